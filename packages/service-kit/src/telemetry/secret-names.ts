/** Matches words in names of credentials. The names must be in lower case, without separators. */
const secret = /token|password|connectionstring|authorization|cookie|apikey|signingkey|secret|dryruns|otlp\w*headers/

/** Returns true if a field, setting or variable of this name holds a secret. Secrets are shown as `***`. */
export const isSecretName = (name: string): boolean => secret.test(name.toLowerCase().replaceAll(/[^a-z]/g, ''))
