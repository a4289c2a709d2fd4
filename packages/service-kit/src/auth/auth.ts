import { type ApiKeys, openApiKeys } from './api-keys.ts'
import type { AuthSettings } from './auth-settings.ts'
import { createIssuer, createTokenVerifier } from './tokens.ts'

export type Auth = NonNullable<ReturnType<typeof createAuth>>

/**
 * Creates the checks of tokens and API keys. Returns undefined if authentication is off.
 * @param onProblem receives each new problem of the file with the API keys
 * @throws {ApiKeysError}
 */
export function createAuth(settings: AuthSettings['Auth'], now: () => Date, onProblem: (problem: string) => void) {
  const { Mode, Issuer, ClientId: clientId, ApiKeys: source } = settings
  if (Mode !== 'closed') return undefined
  const keys: Pick<ApiKeys, 'find'> | undefined = source ? openApiKeys(source, onProblem) : undefined
  if (!Issuer) return { issuer: undefined, keys }
  const issuer = createIssuer(Issuer)
  const verify = createTokenVerifier(settings, issuer, now)
  return { issuer: { verify, discover: issuer.discover, clientId }, keys }
}
