import type { RunningStack } from '@orderflow/stack'
import type { Operator } from '@orderflow/test-kit'
import { killedProcesses } from './faults/killed-processes.ts'
import { theOrderFlow } from './flow.ts'
import { deadLetters } from './operations/dead-letters.ts'
import { hostilePublishers } from './stream/hostile-records.ts'
import { outsidePublishers } from './stream/publishers.ts'
import { killedGateway, publishersOverHttp } from './web/gateway.ts'
import { servicesOverHttp } from './web/http.ts'
import { monitorPage } from './web/monitor.ts'
import { interactivePages } from './web/pages.ts'

/** Declares all specs, for every runner. `running` returns the stack, but only after a `before` hook has started it. */
export function allSpecs(running: () => RunningStack, operator: () => Operator): void {
  networkSpecs(running)
  outsidePublishers(running)
  killedGateway(running)
  hostilePublishers(running, operator)
  deadLetters(running)
  interactivePages(running)
  killedProcesses(running)
}

/** Declares the specs whose results depend on the network of the stack. All other specs test the same programs in every stack. */
export function networkSpecs(running: () => RunningStack): void {
  theOrderFlow(running)
  servicesOverHttp(running)
  publishersOverHttp(running)
  monitorPage(running)
}
