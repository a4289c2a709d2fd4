import { ReleaseError } from '../lib/error.ts'
import type { Operator } from '../settings/operator.ts'
import type { Answer } from './http.ts'

const token = 'make a token with the platform’s own tool (heroku authorizations:create) and set ACCESS_TOKEN'

/** What an answer other than success means for the operator. */
export function platformFailure(answer: Answer, operator: Operator, request: string): ReleaseError {
  const { status } = answer
  const { apiUrl, app } = operator
  const said = platformMessage(answer.text)
  const fail = (message: string, nextStep: string) => new ReleaseError('platform', message, { nextStep, status })
  switch (status) {
    case 401:
      return fail(`${apiUrl} does not accept ACCESS_TOKEN${said}`, token)
    case 402:
      return fail(
        `the platform wants to be paid, or the account verified, first${said}`,
        'see the account on the platform',
      )
    case 403:
      return fail(`ACCESS_TOKEN may not do this to app ${app}${said}`, `${token}; its owner needs access to the app`)
    case 404:
      return fail(
        `${apiUrl} knows no app ${app}, or not what it was asked for (${request})${said}`,
        'create the app, or correct APP',
      )
    case 429:
      return fail(`too many requests to ${apiUrl}${said}`, waitHint(answer))
    default:
      if (status >= 500)
        return fail(`the platform has a fault (${status})${said}`, 'see its status page; run this again later')
      if (status >= 400)
        return fail(`the platform refuses ${request} (${status})${said}`, 'mend what it says, run this again')
      return fail(`${apiUrl} does not answer as the platform’s API does (${status})`, 'check PLATFORM_API_URL')
  }
}

/** The `message` of the platform's error, which is `{id, message, url?}`. */
function platformMessage(text: string): string {
  try {
    const { message, url } = JSON.parse(text) as { message?: unknown; url?: unknown }
    if (typeof message === 'string') return `: ${message}${typeof url === 'string' ? ` (${url})` : ''}`
  } catch {}
  return ''
}

function waitHint({ headers }: Answer): string {
  const seconds = headers.get('retry-after')
  return seconds ? `run this again in ${seconds} s` : 'run this again in a few minutes'
}
