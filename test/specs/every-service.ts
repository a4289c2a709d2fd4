import type { RunningStack } from '@orderflow/stack'
import { reacting, type TestedService } from '../support/tested-services.ts'
import { badRequests } from './every-service/bad-requests.ts'
import { duplicates } from './every-service/duplicates.ts'
import { poison } from './every-service/poison.ts'
import type { Operator } from './rebuild.ts'

/** What holds for any service, also for one that was made a minute ago. */
export function serviceSpecs(service: TestedService, running: () => RunningStack, operator: () => Operator): void {
  describe(service.name, () => {
    badRequests(service, running)
    if (reacting([service]).length === 0) return
    poison(service, running)
    duplicates(service, running, operator)
  })
}
