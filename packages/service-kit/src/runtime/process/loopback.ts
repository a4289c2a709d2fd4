/** Node's fetch expects an IPv6 address in brackets, and other clients expect it without them. `packages/cli/node` has the same names. */
const loopback = ['localhost', '127.0.0.1', '::1', '[::1]']

/**
 * Excludes loopback from the proxies of the environment, because events with personal data would otherwise leave the machine. Clients read either of
 * the two variables, so both get the exceptions of the environment.
 */
export function bypassProxies(env: NodeJS.ProcessEnv): void {
  const { no_proxy: lower, NO_PROXY: upper } = env
  env.no_proxy = withLoopback(lower || upper || '')
  env.NO_PROXY = withLoopback(upper || lower || '')
}

/** A `*` excludes all addresses already. In a longer list, some clients would ignore it. */
function withLoopback(exceptions: string): string {
  const own = exceptions.split(/[\s,]+/).filter(Boolean)
  return own.includes('*') ? '*' : [...new Set([...own, ...loopback])].join()
}
