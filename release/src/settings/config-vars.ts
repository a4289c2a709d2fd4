/** The environment of an app on the platform, as its API takes it. */
export type ConfigVars = Record<string, string>

/** A setting whose value is never shown. */
export function isSecret(name: string): boolean {
  return /(ConnectionString|Password|Token|Secret|SigningKeys|OTLP_HEADERS)$/i.test(name)
}

/** The values of an app's config vars that must not be shown; also of those that are not ours, such as an add-on's URL. */
export function secretsOf(vars: Record<string, string | null>): string[] {
  return Object.entries(vars).flatMap(([name, value]) =>
    value && (isSecret(name) || hasCredentials(value)) ? [value] : [],
  )
}

/** A URL with a user or password in it. */
export function hasCredentials(value: string): boolean {
  return /:\/\/[^/@\s]*@/.test(value)
}
