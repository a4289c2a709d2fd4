import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, getCACertificates } from 'node:tls'
import { Client } from 'pg'
import { CliError } from '../base/error.ts'

/** The modes of libpq (https://www.postgresql.org/docs/current/libpq-ssl.html). The sidecar's driver, pgx, has the same ones. */
const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type Mode = (typeof modes)[number]

/** Parameters that other drivers know. pgx would send them to the server, which refuses them. */
const foreign = ['ssl', 'uselibpqcompat']

interface TlsSettings {
  mode: Mode
  rootFile: string | undefined
  certFile: string | undefined
  keyFile: string | undefined
  password: string | undefined
}

/**
 * Reads the parameters and variables of libpq about TLS. Opens no file, because a URI may be for another machine.
 * @throws {CliError} `settings` for a parameter that libpq refuses
 */
export function tlsSettings(uri: string, env: NodeJS.ProcessEnv = process.env): TlsSettings {
  const given = new URLSearchParams(uri.split('?')[1] ?? '')
  const unknown = foreign.find((name) => given.has(name))
  if (unknown) throw refused(`sidecars refuse the parameter ${unknown} in State__ConnectionString`)
  const parameter = (name: string) => given.get(name) || env[`PG${name.toUpperCase()}`] || undefined
  const rootFile = parameter('sslrootcert')
  const usual: Mode = rootFile === 'system' ? 'verify-full' : 'prefer'
  const named = parameter('sslmode') ?? usual
  const mode = modes.find((each) => each === named)
  if (!mode) throw refused(`sslmode=${named} in State__ConnectionString is not a mode of PostgreSQL`)
  if (rootFile === 'system' && mode !== 'verify-full')
    throw refused(`sslrootcert=system needs sslmode=verify-full, not ${mode}`)
  return {
    mode,
    rootFile,
    certFile: parameter('sslcert'),
    keyFile: parameter('sslkey'),
    password: given.get('sslpassword') ?? undefined,
  }
}

const refused = (problem: string) =>
  new CliError('settings', problem, {
    nextStep: `set sslmode to one of ${modes.join(', ')}; require accepts every certificate, unless sslrootcert names a file with an authority`,
  })

/**
 * Connects as libpq does, so that a URI has the same effect here, in psql and in a sidecar. With `allow` and `prefer`, it tries both with TLS and
 * without TLS. As in the sidecar, the verifying modes trust the authorities of this machine if no file is named.
 * @throws {CliError} `settings` for invalid parameters, `denied` if the certificate is not accepted
 */
export async function connect(uri: string): Promise<Client> {
  const { mode, ...tls } = tlsSettings(uri)
  const connectionString = withoutTls(uri)
  const failures: Error[] = []
  for (const ssl of attempts(uri, mode, tls)) {
    const client = new Client({ connectionString, ssl, connectionTimeoutMillis: 5_000 })
    // A broken connection also fails the query that waits for it.
    client.on('error', () => {})
    try {
      await client.connect()
      return client
    } catch (error) {
      await client.end().catch(() => {})
      const failure = error as Error & { code?: string }
      failures.push(failure)
      if (lasting.includes(failure.code ?? '')) break
    }
  }
  const last = failures.at(-1) as Error & { code?: string }
  throw certificateCodes.test(last.code ?? '') ? untrusted(uri, mode, last) : together(failures, last)
}

/** The codes of PostgreSQL for a wrong password, a missing database and a missing right, which are the same with and without TLS. */
const lasting = ['28P01', '3D000', '42501']

const certificateCodes = /CERT|SELF_SIGNED|LEAF_SIGNATURE/

function untrusted(uri: string, mode: Mode, cause: Error): CliError {
  const problem = `the certificate of ${new URL(uri).host} is refused by sslmode=${mode}: ${cause.message}`
  return new CliError('denied', problem, {
    nextStep:
      'name a file with the authority that signed it: sslrootcert=ca.pem. Or accept every certificate: sslmode=require without sslrootcert',
    cause,
  })
}

/** Returns the last error, with the messages of all attempts. */
function together(failures: Error[], last: Error): Error {
  last.message = [...new Set(failures.map(({ message }) => message))].join('; then ')
  return last
}

/** Returns the settings of TLS in the order in which libpq tries them; false means a connection without TLS. */
function attempts(uri: string, mode: Mode, settings: Omit<TlsSettings, 'mode'>): (ConnectionOptions | false)[] {
  // libpq ignores TLS on Unix sockets.
  if (mode === 'disable' || !new URL(uri).hostname) return [false]
  const own = clientCertificate(settings)
  // These modes of libpq encrypt without a check, and the URI's author chose one.
  // nosemgrep: tls-without-a-check
  const unchecked = { ...own, rejectUnauthorized: false }
  if (mode === 'allow') return [false, unchecked]
  if (mode === 'prefer') return [unchecked, false]
  const root = rootOf(settings.rootFile)
  if (mode === 'require' && !root) return [unchecked]
  const checked = { ...own, ca: root ?? [...getCACertificates('default'), ...getCACertificates('system')] }
  return [mode === 'verify-full' ? checked : { ...checked, checkServerIdentity: () => undefined }]
}

function clientCertificate({ certFile, keyFile, password }: Omit<TlsSettings, 'mode'>): ConnectionOptions {
  return {
    ...(certFile && { cert: contentOf('sslcert', certFile) }),
    ...(keyFile && { key: contentOf('sslkey', keyFile) }),
    ...(password && { passphrase: password }),
  }
}

/** Returns the authorities of a file, by default of the file in the home folder, if it exists. */
function rootOf(named: string | undefined): string[] | undefined {
  if (named === 'system') return getCACertificates('system')
  const usual = join(homedir(), '.postgresql/root.crt')
  const file = named ?? (existsSync(usual) ? usual : undefined)
  return file === undefined ? undefined : [contentOf('sslrootcert', file)]
}

function contentOf(parameter: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const problem = `${parameter}=${file} in State__ConnectionString cannot be read: ${(cause as Error).message}`
    const nextStep = `let ${parameter} name a PEM file that this program and the sidecars can read`
    throw new CliError('settings', problem, { nextStep, cause })
  }
}

/** Returns the URI without parameters about TLS, whose meaning the driver of this program changes. */
function withoutTls(uri: string): string {
  const url = new URL(uri)
  for (const name of [...url.searchParams.keys()]) if (name.startsWith('ssl')) url.searchParams.delete(name)
  return url.href
}
