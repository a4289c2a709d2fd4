import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { type ApiKeyRecord, createApiKey, readApiKeys } from '@orderflow/service-kit/api-keys'
import { isScope } from '@orderflow/service-kit/scope'
import { table } from '@orderflow/service-kit/terminal'
import { CliError } from '../lib/error.ts'
import { replaceFile } from '../lib/files.ts'
import { apiKeysFile, repository } from '../lib/paths.ts'
import { print } from '../lib/terminal.ts'

/** The arguments of `./orderflow api-key`. */
interface ApiKeyRequest {
  /** `list` if it is left out. */
  action: string | undefined
  /** The name of a new key, or the prefix of one to revoke. */
  subject: string | undefined
  /** Separated by spaces or commas. */
  scopes: string | undefined
  tenant: string | undefined
}

const usage = './orderflow api-key create shop --scopes "events:read" [--tenant acme]'

/**
 * `./orderflow api-key`: creates a key, which is shown only once and is valid at once; or revokes one by its prefix, which running services
 * refuse within a second; or lists all.
 * @throws {CliError} `usage`
 */
export function apiKey({ action = 'list', subject, scopes, tenant = '' }: ApiKeyRequest, now = new Date()): void {
  const records = ensureApiKeys()
  if (action !== 'create' && (scopes || tenant)) {
    throw new CliError('usage', '--scopes and --tenant belong to create', { nextStep: usage })
  }
  if (action === 'list') list(records)
  else if (action === 'revoke') revoke(records, subject)
  else if (action !== 'create') throw new CliError('usage', `api-key: unknown action ${action}`, { nextStep: usage })
  else if (!subject) throw new CliError('usage', 'whose key? the name is missing', { nextStep: usage })
  else make(records, { name: subject, scopes: readScopes(scopes), tenant }, now)
}

/** The records of the file; of none when it is not there, which is written then, for services to watch. */
export function ensureApiKeys(): ApiKeyRecord[] {
  if (!existsSync(apiKeysFile)) write([])
  return readApiKeys(apiKeysFile)
}

function make(records: ApiKeyRecord[], asked: Parameters<typeof createApiKey>[0], now: Date): void {
  const { key, record } = createApiKey(asked, now)
  write([...records, record])
  print(key)
  print()
  print(
    `That is the key of ${record.name}. It is shown only once: this checkout keeps its hash alone (${shownFile()}).`,
  )
  print(`next: curl -H "Authorization: Bearer $KEY" ..., and ./orderflow api-key revoke ${record.prefix} to revoke it`)
}

function revoke(records: ApiKeyRecord[], prefix: string | undefined): void {
  if (!prefix)
    throw new CliError('usage', 'which key? its prefix is missing', { nextStep: './orderflow api-key lists them' })
  const left = records.filter((record) => record.prefix !== prefix)
  if (left.length === records.length) {
    throw new CliError('usage', `no key has the prefix ${prefix}`, { nextStep: './orderflow api-key lists them' })
  }
  write(left)
  print(`${prefix}: revoked; services that run refuse it within a second`)
}

function list(records: ApiKeyRecord[]): void {
  if (records.length === 0) print(`there are no API keys; ${usage}`)
  const rows = records.map(({ name, prefix, scopes, tenant, created }) => [
    prefix,
    name,
    scopes.join(' '),
    tenant || '-',
    created,
  ])
  for (const line of table([['PREFIX', 'NAME', 'SCOPES', 'TENANT', 'CREATED'], ...rows])) print(line)
}

function readScopes(text = ''): string[] {
  const scopes = text.split(/[\s,]+/).filter(Boolean)
  const wrong = scopes.filter((scope) => !isScope(scope))
  if (scopes.length > 0 && wrong.length === 0) return scopes
  const what = wrong.length > 0 ? `${wrong.join(', ')}: no such scope` : 'what may it do? --scopes is missing'
  throw new CliError('usage', `${what}; the pages of the services name the scopes, such as events:read`, {
    nextStep: usage,
  })
}

/** Writes the file in one step, since services read it at each change. Other users may read it: those of containers. */
function write(records: ApiKeyRecord[]): void {
  replaceFile(apiKeysFile, `${JSON.stringify(records, null, 2)}\n`, 0o644)
}

const shownFile = () => relative(repository, apiKeysFile)
