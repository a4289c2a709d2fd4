/** Parts of the names of credentials, in lower case without separators. */
const secret = /token|password|connectionstring|authorization|cookie|apikey|signingkey|secret|dryruns|otlp\w*headers/

/** Returns true if a field, setting or variable of this name holds a secret, which is shown as `***`. */
export function isSecretName(name: string): boolean {
  return secret.test(name.toLowerCase().replaceAll(/[^a-z]/g, ''))
}
