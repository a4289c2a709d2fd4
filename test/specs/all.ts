import type { RunningStack } from '@orderflow/stack'
import { deadLetters } from './dead-letters.ts'
import { killedProcesses } from './faults.ts'
import { theOrderFlow } from './flow.ts'
import { hostilePublishers } from './hostile-records.ts'
import { servicesOverHttp } from './http.ts'
import { interactivePages } from './pages.ts'
import { outsidePublishers } from './publishers.ts'
import type { Operator } from './rebuild.ts'

/** What holds for the system however it runs. `running` answers the stack once a `before` hook has started it. */
export function allSpecs(running: () => RunningStack, operator: () => Operator): void {
  theOrderFlow(running)
  outsidePublishers(running)
  hostilePublishers(running, operator)
  deadLetters(running)
  servicesOverHttp(running)
  interactivePages(running)
  killedProcesses(running)
}
