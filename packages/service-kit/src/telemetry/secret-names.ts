/** Parts of the names of credentials, without case and separators. */
const secret = /token|password|connectionstring|authorization|cookie|apikey|signingkey|secret|dryruns|otlp\w*headers/

/** Returns whether a field, setting or variable of this name holds a secret. Logs, exports and releases show `***` in place of its value. */
export function isSecretName(name: string): boolean {
  return secret.test(name.toLowerCase().replaceAll(/[^a-z]/g, ''))
}
