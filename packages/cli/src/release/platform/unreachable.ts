import { ReleaseError } from '../lib/error.ts'

interface Attempt {
  url: string
  setting: string
  idempotent: boolean
  timeoutMs: number
}

/** Why a request got no answer, in the operator's words. Code `usage` means that trying again is of no use. */
export function unreachable(cause: unknown, { url, setting, idempotent, timeoutMs }: Attempt): ReleaseError {
  const { host } = new URL(url)
  const reason = (cause as Error).cause ?? cause
  const { code = '', message } = reason as NodeJS.ErrnoException
  const unknown = idempotent ? '' : '; whether it was done is unknown, so look before you do it again'
  if ((cause as Error).name === 'TimeoutError') {
    return new ReleaseError('unreachable', `${host} did not answer within ${timeoutMs / 1000} s${unknown}`, {
      nextStep: `run this again; if it stays so, check ${setting}`,
      cause,
    })
  }
  if (/CERT|SIGNATURE|SELF_SIGNED|ALTNAME/.test(code)) {
    return new ReleaseError('usage', `the certificate of ${host} is not trusted (${code})`, {
      nextStep: `if ${setting} is right and has an authority of its own, set NODE_EXTRA_CA_CERTS to its PEM file`,
      cause,
    })
  }
  if (code === 'ENOTFOUND') {
    return new ReleaseError('usage', `there is no host ${host}`, { nextStep: `check ${setting}`, cause })
  }
  return new ReleaseError('unreachable', `${host} cannot be reached (${code || message})${unknown}`, {
    nextStep: `check your connection and ${setting}`,
    cause,
  })
}
