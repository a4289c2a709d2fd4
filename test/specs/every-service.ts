import type { RunningStack } from '@orderflow/stack'
import type { TestedService } from '../support/tested-services.ts'
import { badRequests } from './every-service/bad-requests.ts'
import { duplicates } from './every-service/duplicates.ts'
import { kills } from './every-service/kills.ts'
import { poison } from './every-service/poison.ts'
import type { Operator } from './rebuild.ts'

/** What a service keeps out, however it runs: requests and records. */
export function serviceRefusals(service: TestedService, running: () => RunningStack): void {
  describe(service.name, () => refusals(service, running))
}

/** What holds for any service, also for one that was made a minute ago. */
export function serviceSpecs(service: TestedService, running: () => RunningStack, operator: () => Operator): void {
  describe(service.name, () => {
    refusals(service, running)
    duplicates(service, running, operator)
    kills(service, running)
  })
}

function refusals(service: TestedService, running: () => RunningStack): void {
  badRequests(service, running)
  poison(service, running)
}
