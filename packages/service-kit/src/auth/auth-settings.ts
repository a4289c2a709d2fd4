import { isIPv4 } from 'node:net'

/** The settings that `authProperties` describes. */
export interface AuthSettings {
  Auth: Record<'Issuer' | 'Audience' | 'TenantClaim' | 'ClientId' | 'ApiKeys', string> & {
    Mode: 'loopback' | 'open' | 'closed'
  }
}

const text = (description: string) => ({ type: 'string', description })

export const authProperties = {
  Mode: {
    enum: ['loopback', 'open', 'closed'],
    description:
      'The allowed callers. loopback: this machine. open: everyone. closed: callers with a token or an API key.',
  },
  Issuer: text('The OpenID Connect issuer of valid tokens, as in their claim iss. Empty: only API keys are valid.'),
  Audience: text('The audience of valid tokens (aud).'),
  TenantClaim: { ...text('The claim of tokens that has the tenant.'), minLength: 1 },
  ClientId: text(
    'The client id of the pages of the service, a public client of the issuer. Empty: pages have no sign-in.',
  ),
  ApiKeys: text('The file that ./orderflow api-key writes, or its content. Empty: only tokens are valid.'),
}

/** Returns a line for each wrong setting. The line begins with the name of a variable that must change. */
export function authProblems({ Auth, Web }: AuthSettings & { Web: { Host: string } }): string[] {
  const { Mode, Issuer, Audience, ApiKeys } = Auth
  if (Mode === 'closed') {
    if (!Issuer && !ApiKeys) {
      return [
        'Auth__Issuer: is missing, so all callers are refused; set it and Auth__Audience, for tokens, or Auth__ApiKeys',
        'Auth__ApiKeys: is missing; set it, for API keys (./orderflow api-key), or Auth__Issuer and Auth__Audience',
      ]
    }
    if (!Issuer) return []
    if (!isSecure(Issuer))
      return [
        'Auth__Issuer: must begin with https://, or be on this machine; otherwise an attacker could replace its keys',
      ]
    return Audience ? [] : ["Auth__Audience: is missing; set it to the aud of the issuer's tokens for this service"]
  }
  const unused = Object.entries({ Issuer, ApiKeys }).filter(([, value]) => value)
  if (unused.length > 0) {
    return unused.map(
      ([name]) => `Auth__${name}: has no effect while Auth__Mode is ${Mode}; set Auth__Mode=closed, too`,
    )
  }
  if (Mode === 'open' || isLoopback(Web.Host)) return []
  return [
    `Auth__Mode: must be closed, because others reach ${Web.Host} (Web__Host). Set closed with  Auth__Issuer and Auth__Audience, for tokens, or ` +
      'with Auth__ApiKeys; or set open, if all callers may do everything',
  ]
}

function isSecure(issuer: string): boolean {
  const url = URL.parse(issuer)
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[|\]$/g, '')))
}

/** Returns true if only programs of this machine can reach a listener on this host. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
