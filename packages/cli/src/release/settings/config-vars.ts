import { isSecretName } from '@orderflow/service-kit/secret-names'

/** The environment of an app on the platform, as its API takes it. */
export type ConfigVars = Record<string, string>

/** The values of an app's config vars that must not be shown; also of those that are not ours, such as an add-on's URL. */
export function secretsOf(vars: Record<string, string | null>): string[] {
  const secrets = Object.entries(vars).flatMap(([name, value]) =>
    value && (isSecretName(name) || hasCredentials(value)) ? [value, ...listedSecrets(value)] : [],
  )
  return [...new Set(secrets)]
}

/** The secrets of a list: of keys, of `header=secret` pairs, or of `service=url token` pairs. */
function listedSecrets(value: string): string[] {
  // A URI or JSON is no such list.
  if (/^([\w+.-]+:\/\/|[[{])/.test(value)) return []
  return value.split(',').map((item) => {
    const [, secret = item] = / (\S+)$/.exec(item) ?? /^[\w-]+=([^=].*)$/.exec(item) ?? []
    return secret
  })
}

/** A URL with a user or password in it. */
export function hasCredentials(value: string): boolean {
  return /:\/\/[^/@\s]*@/.test(value)
}
