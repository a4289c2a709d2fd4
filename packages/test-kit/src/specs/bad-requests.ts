import { send } from '@orderflow/service-kit/testing'
import { type RunningStack, urlOf } from '@orderflow/stack'
import { badRequestsOf, expectRefused, refusalTitle } from './bad-request-cases.ts'
import type { TestedService } from './tested-services.ts'

/** Declares the specs of bad requests, which come from the service's routes and from its subject. */
export function badRequests({ name, parts, subject }: TestedService, running: () => RunningStack): void {
  for (const [what, bad] of Object.entries(badRequestsOf(parts.routes, subject))) {
    it(refusalTitle(what, bad), async () => expectRefused(await send(urlOf(running(), name) + bad.path, bad.init), bad))
  }
}
