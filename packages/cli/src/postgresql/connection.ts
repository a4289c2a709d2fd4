/** The user of the stack's PostgreSQL, whom initdb and the image make. */
export const postgresqlUser = 'orderflow'

/**
 * A PostgreSQL server as clients name it, without a database: a sidecar adds its own (components/postgresql). Without TLS, which is for
 * loopback and for a network of containers.
 */
export function postgresqlUri(host: string, port: number, password: string): string {
  return `postgres://${postgresqlUser}:${password}@${host}:${port}/?sslmode=disable`
}
