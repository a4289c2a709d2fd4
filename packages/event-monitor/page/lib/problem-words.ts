import type { Problem } from '../../src/api/index.ts'

/** What somebody may do about an answer that is none; by its status, where the problem does not say it itself. */
export function nextStepOf({ status }: Pick<Problem, 'status'>): string {
  if (status === 0)
    return 'make status says whether the monitor runs; make up starts what is missing. This page asks again by itself.'
  if (status === 401) return 'The monitor asks who you are: sign in with an API key or a token that has events:read.'
  if (status === 403)
    return 'Sign out, then in with a key or token that has it: ./orderflow api-key makes one (docs/access.md).'
  if (status === 404) return 'Search for it above, by any GUID or word that you know of it.'
  if (status === 409) return 'Somebody changed it meanwhile: reload, and look at it again.'
  if (status === 429) return 'Too much was asked at once: wait a moment.'
  if (status >= 500) return 'make logs SERVICE=event-monitor says more. This page asks again by itself.'
  return 'Change it in the address or in what you wrote.'
}
