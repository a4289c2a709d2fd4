import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { type ApiKeyRecord, createApiKey, readApiKeys } from '@orderflow/service-kit/api-keys'
import { isScope } from '@orderflow/service-kit/scope'
import { table } from '@orderflow/service-kit/terminal'
import { CliError } from '../lib/error.ts'
import { replaceFile } from '../lib/files.ts'
import { apiKeysFile, repository } from '../lib/paths.ts'
import { print } from '../lib/terminal.ts'

interface ApiKeyRequest {
  action: string | undefined
  /** A new key's name, or the prefix of a key to revoke. */
  subject: string | undefined
  /** The scopes, separated by spaces or commas. */
  scopes: string | undefined
  tenant: string | undefined
}

const usage = './orderflow api-key create shop --scopes "events:read" [--tenant acme]'

/**
 * Runs `./orderflow api-key`. Running services read a change within a second.
 * @throws {CliError} `usage`
 */
export function apiKey({ action = 'list', subject, scopes, tenant = '' }: ApiKeyRequest, now = new Date()): void {
  const records = ensureApiKeys()
  if (action !== 'create' && (scopes || tenant)) {
    throw new CliError('usage', '--scopes and --tenant are only for create', { nextStep: usage })
  }
  if (action === 'list') list(records)
  else if (action === 'revoke') revoke(records, subject)
  else if (action !== 'create') throw new CliError('usage', `api-key: unknown action ${action}`, { nextStep: usage })
  else if (!subject) throw new CliError('usage', 'the name is missing: name the owner of the key', { nextStep: usage })
  else make(records, { name: subject, scopes: readScopes(scopes), tenant }, now)
}

/** Creates the file of keys if it is missing, because services watch this file. */
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
    `This is the key of ${record.name}. It is shown only once, because this checkout stores only its hash (${shownFile()}).`,
  )
  print(`next: curl -H "Authorization: Bearer $KEY" ..., and ./orderflow api-key revoke ${record.prefix} to revoke it`)
}

function revoke(records: ApiKeyRecord[], prefix: string | undefined): void {
  if (!prefix)
    throw new CliError('usage', 'the prefix of the key is missing', { nextStep: './orderflow api-key lists them' })
  const left = records.filter((record) => record.prefix !== prefix)
  if (left.length === records.length) {
    throw new CliError('usage', `no key has the prefix ${prefix}`, { nextStep: './orderflow api-key lists them' })
  }
  write(left)
  print(`${prefix}: revoked; running services refuse it within a second`)
}

function list(records: ApiKeyRecord[]): void {
  if (records.length === 0) print(`there are no API keys; create one: ${usage}`)
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
  const what = wrong.length > 0 ? `${wrong.join(', ')}: unknown scope` : '--scopes is missing'
  throw new CliError('usage', `${what}; the services’ pages list the scopes, such as events:read`, {
    nextStep: usage,
  })
}

/** Writes the file of keys. Other users may read it, for example the users of containers. */
function write(records: ApiKeyRecord[]): void {
  replaceFile(apiKeysFile, `${JSON.stringify(records, null, 2)}\n`, 0o644)
}

const shownFile = () => relative(repository, apiKeysFile)
