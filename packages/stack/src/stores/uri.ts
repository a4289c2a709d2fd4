/** Returns the user and the password of a store's URI. The URI may name several hosts, so that `URL` could not parse it. */
export function loginOf(uri: string): { user: string; password: string } {
  const [, user = '', password = ''] = /^[^:]+:\/\/([^:@/]*)(?::([^@/]*))?@/.exec(uri) ?? []
  return { user: decodeURIComponent(user), password: decodeURIComponent(password) }
}

/** Returns the URI with another user. Both texts must consist of characters that need no encoding. */
export function withLogin(uri: string, user: string, password: string): string {
  return uri.replace(/^([^:]+:\/\/)(?:[^@/]*@)?/, (_, scheme: string) => `${scheme}${user}:${password}@`)
}
