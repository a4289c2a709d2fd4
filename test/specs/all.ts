import type { RunningStack } from '@orderflow/stack'
import type { Operator } from '@orderflow/test-kit'
import { deadLetters } from './dead-letters.ts'
import { killedProcesses } from './faults.ts'
import { theOrderFlow } from './flow.ts'
import { killedGateway, publishersOverHttp } from './gateway.ts'
import { hostilePublishers } from './hostile-records.ts'
import { servicesOverHttp } from './http.ts'
import { monitorPage } from './monitor.ts'
import { interactivePages } from './pages.ts'
import { outsidePublishers } from './publishers.ts'

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
