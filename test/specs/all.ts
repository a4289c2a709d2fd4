import type { RunningStack } from '@orderflow/stack'
import { killedProcesses } from './faults.ts'
import { theOrderFlow } from './flow.ts'
import { servicesOverHttp } from './http.ts'
import { interactivePages } from './pages.ts'
import { outsidePublishers } from './publishers.ts'

/** What holds for the system however it runs. `running` answers the stack once a `before` hook has started it. */
export function allSpecs(running: () => RunningStack): void {
  theOrderFlow(running)
  outsidePublishers(running)
  servicesOverHttp(running)
  interactivePages(running)
  killedProcesses(running)
}
