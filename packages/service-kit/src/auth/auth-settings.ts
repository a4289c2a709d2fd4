import { isIPv4 } from 'node:net'

/** Who may use the public listener. */
export interface AuthSettings {
  Auth: {
    /** `loopback`: anybody on this machine, and no listener beyond it. `open`: anybody who can reach it. `closed`: a token or a key. */
    Mode: 'loopback' | 'open' | 'closed'
    /** The OpenID Connect issuer whose tokens count, as they say it in `iss`; empty for keys alone. */
    Issuer: string
    /** What the tokens must be for (`aud`). */
    Audience: string
    /** The claim that names a caller's tenant. */
    TenantClaim: string
    /** The page's own id at the issuer, of a public client; empty when nobody is to sign in there. */
    ClientId: string
    /** The API keys, as the path of a file that ./orderflow api-key writes, or as its text; empty for tokens alone. */
    ApiKeys: string
  }
}

const text = { type: 'string' }

/** The section's properties as JSON Schemas. */
export const authProperties = {
  Mode: { enum: ['loopback', 'open', 'closed'] },
  Issuer: text,
  Audience: text,
  TenantClaim: { type: 'string', minLength: 1 },
  ClientId: text,
  ApiKeys: text,
}

/** A line for each setting that is wrong with who may use a listener, beginning with the variable that fixes it. */
export function authProblems({ Auth, Web }: AuthSettings & { Web: { Host: string } }): string[] {
  const { Mode, Issuer, Audience, ApiKeys } = Auth
  if (Mode === 'closed') {
    if (!Issuer && !ApiKeys) {
      return [
        'Auth__Issuer: is missing, and nobody gets in; set it and Auth__Audience, for tokens, or Auth__ApiKeys',
        'Auth__ApiKeys: is missing; set it, for API keys (./orderflow api-key), or Auth__Issuer and Auth__Audience',
      ]
    }
    if (!Issuer) return []
    if (!isSecure(Issuer))
      return ['Auth__Issuer: must begin with https://, or be on this machine: its keys could be anybody’s']
    return Audience ? [] : ["Auth__Audience: is missing; set what the issuer's tokens for this service have as aud"]
  }
  const unused = Object.entries({ Issuer, ApiKeys }).filter(([, value]) => value)
  if (unused.length > 0) {
    return unused.map(
      ([name]) => `Auth__${name}: is nothing as long as Auth__Mode is ${Mode}; set Auth__Mode=closed, too`,
    )
  }
  if (Mode === 'open' || isLoopback(Web.Host)) return []
  return [
    `Auth__Mode: must be closed, since others reach ${Web.Host} (Web__Host); with Auth__Issuer and Auth__Audience, for tokens, or ` +
      'Auth__ApiKeys; or open, when all who reach it may do all',
  ]
}

function isSecure(issuer: string): boolean {
  const url = URL.parse(issuer)
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[|\]$/g, '')))
}

/** Returns whether only programs of this machine reach a listener, by the host that it listens on. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}
