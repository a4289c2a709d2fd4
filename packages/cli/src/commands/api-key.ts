import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { type ApiKeyRecord, createApiKey, readApiKeys } from '@orderflow/service-kit/api-keys'
import { isScope } from '@orderflow/service-kit/scope'
import { table } from '@orderflow/service-kit/terminal'
import { StackError } from '../lib/error.ts'
import { apiKeysFile, repository } from '../lib/paths.ts'
import { replaceFile } from '../lib/replace-file.ts'
import { print } from '../lib/terminal.ts'

/** What `make api-key` is asked for, by the variables of the command line. */
export interface ApiKeyRequest {
  NAME?: string | undefined
  /** Separated by spaces or commas. */
  SCOPES?: string | undefined
  TENANT?: string | undefined
  REVOKE?: string | undefined
}

const usage =
  'make api-key NAME=shop SCOPES="orders:read orders:write" [TENANT=acme], or REVOKE=prefix, or nothing for the list'

/**
 * `make api-key`: makes a key, which is shown this once and counts at once, or revokes one by its prefix, which services that run refuse
 * within a second, or lists what is known of all.
 * @throws {StackError} `usage`
 */
export function apiKey({ NAME, SCOPES, TENANT, REVOKE }: ApiKeyRequest, now = new Date()): void {
  const records = ensureApiKeys()
  if (REVOKE) revoke(records, REVOKE)
  else if (NAME) make(records, { name: NAME, scopes: readScopes(SCOPES), tenant: TENANT ?? '' }, now)
  else if (SCOPES || TENANT) throw new StackError('usage', 'whose key? NAME is missing', { nextStep: usage })
  else list(records)
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
  print(`That is the key of ${record.name}. It is shown this once: here only its hash is kept (${shownFile()}).`)
  print(`next: curl -H "Authorization: Bearer $KEY" ..., and make api-key REVOKE=${record.prefix} when it is to end`)
}

function revoke(records: ApiKeyRecord[], prefix: string): void {
  const left = records.filter((record) => record.prefix !== prefix)
  if (left.length === records.length) {
    throw new StackError('usage', `no key has the prefix ${prefix}`, { nextStep: 'make api-key lists them' })
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
  const what = wrong.length > 0 ? `${wrong.join(', ')}: no such scope` : 'what may it do? SCOPES is missing'
  throw new StackError(
    'usage',
    `${what}; a scope is orders:read, orders:write and so on, as the services' pages tell`,
    { nextStep: usage },
  )
}

/** In one step, since services read it whenever it changes; by anybody, since those in containers are other users. */
function write(records: ApiKeyRecord[]): void {
  replaceFile(apiKeysFile, `${JSON.stringify(records, null, 2)}\n`, 0o644)
}

const shownFile = () => relative(repository, apiKeysFile)
