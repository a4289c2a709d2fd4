import { type ApiKeys, openApiKeys } from './api-keys.ts'
import type { AuthSettings } from './auth-settings.ts'
import { createIssuer, createTokenVerifier, type Discovery, type VerifyToken } from './tokens.ts'

export interface Auth {
  issuer: { verify: VerifyToken; discover: () => Promise<Discovery>; clientId: string } | undefined
  keys: Pick<ApiKeys, 'find'> | undefined
}

/**
 * Creates the checks of tokens and API keys. Returns undefined if authentication is off.
 * @param onProblem receives each new problem of the file with the API keys
 * @throws {ApiKeysError}
 */
export function createAuth(
  settings: AuthSettings['Auth'],
  now: () => Date,
  onProblem: (problem: string) => void,
): Auth | undefined {
  const { Mode, Issuer, ClientId: clientId, ApiKeys } = settings
  if (Mode !== 'closed') return undefined
  const keys = ApiKeys ? openApiKeys(ApiKeys, onProblem) : undefined
  if (!Issuer) return { issuer: undefined, keys }
  const issuer = createIssuer(Issuer)
  const verify = createTokenVerifier(settings, issuer, now)
  return { issuer: { verify, discover: issuer.discover, clientId }, keys }
}
