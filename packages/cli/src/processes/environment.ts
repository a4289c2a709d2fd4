/**
 * What of the shell's environment a process of the stack gets: how programs find what they need on this machine, and the settings
 * that are documented for it. Nothing else, for another variable may mean something to a program by chance: `PORT`, to a service.
 */
const inherited = [
  /^(PATH|HOME|TMPDIR|LANG|LC_\w+|TZ|JAVA_HOME)$/,
  /^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR)$/,
  /^(HTTPS?|ALL|NO)_PROXY$/i,
  // Where traces go (components/configuration.yaml).
  /^OTEL_\w+$/,
  // On a machine without a network a sidecar cannot find its own address.
  /^DAPR_HOST_IP$/,
  // Settings: those of appsettings.json as Section__Key.
  /^[A-Z][A-Za-z]*__\w+$/,
]

export function inheritedEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => inherited.some((allowed) => allowed.test(name))))
}
