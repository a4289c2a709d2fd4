import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { type ApiKeyRecord, createApiKey, parseApiKeys } from '@orderflow/service-kit/api-keys'
import { isScope } from '@orderflow/service-kit/scope'
import { table } from '@orderflow/service-kit/terminal'
import { readRecord } from '../kubernetes/cluster.ts'
import { CliError } from '../lib/error.ts'
import { replaceFile } from '../lib/files.ts'
import { apiKeysFile, repository } from '../lib/paths.ts'
import { print } from '../lib/terminal.ts'
import type { ApiKeysText } from '../runner.ts'
import { runningRunner } from './runners.ts'

interface ApiKeyRequest {
  action: string | undefined
  /** The name of a new key, or the prefix of a key to revoke. */
  name: string | undefined
  /** The scopes, separated by spaces or commas. */
  scopes: string | undefined
  tenant: string | undefined
}

const usage = './orderflow api-key create shop --scopes "events:read" [--tenant acme]'

/**
 * Runs `./orderflow api-key` for the running stack, otherwise for the file of this checkout.
 * @throws {CliError} `usage`
 */
export async function apiKey(
  { action = 'list', name, scopes, tenant = '' }: ApiKeyRequest,
  now = new Date(),
): Promise<void> {
  const keys = await keysOfStack()
  const records = parseApiKeys(await keys.read())
  if (action !== 'create' && (scopes || tenant)) {
    throw new CliError('usage', '--scopes and --tenant are only for create', { nextStep: usage })
  }
  if (action === 'list') list(records)
  else if (action === 'revoke') await revoke(keys, records, name)
  else if (action !== 'create') throw new CliError('usage', `api-key: unknown action ${action}`, { nextStep: usage })
  else if (!name) throw new CliError('usage', 'the name is missing: name the owner of the key', { nextStep: usage })
  else await make(keys, records, { name, scopes: readScopes(scopes), tenant }, now)
}

/** The keys in the file of this checkout. Other users may read the file, for example the users of containers. */
const keysOfCheckout: ApiKeysText = {
  name: relative(repository, apiKeysFile),
  read: async () => {
    ensureApiKeys()
    return readFileSync(apiKeysFile, 'utf8')
  },
  write: async (text) => replaceFile(apiKeysFile, text, 0o644),
  delay: 'a second',
}

/** Creates the file of keys if it is missing, because services watch this file. */
export function ensureApiKeys(): void {
  if (!existsSync(apiKeysFile)) replaceFile(apiKeysFile, textOf([]), 0o644)
}

/** Calls no cluster unless this checkout has a stack in Kubernetes. */
async function keysOfStack(): Promise<ApiKeysText> {
  const runner = readRecord() ? await runningRunner() : undefined
  return runner?.apiKeys ?? keysOfCheckout
}

const textOf = (records: ApiKeyRecord[]) => `${JSON.stringify(records, null, 2)}\n`

type Wanted = Parameters<typeof createApiKey>[0]

async function make(keys: ApiKeysText, records: ApiKeyRecord[], asked: Wanted, now: Date): Promise<void> {
  const { key, record } = createApiKey(asked, now)
  await keys.write(textOf([...records, record]))
  print(key)
  print()
  print(`This is the key of ${record.name}. It is shown only once, because only its hash is stored (${keys.name}).`)
  print(`next: curl -H "Authorization: Bearer $KEY" ..., and ./orderflow api-key revoke ${record.prefix} to revoke it`)
}

async function revoke(keys: ApiKeysText, records: ApiKeyRecord[], prefix: string | undefined): Promise<void> {
  if (!prefix)
    throw new CliError('usage', 'the prefix of the key is missing', { nextStep: './orderflow api-key lists them' })
  const left = records.filter((record) => record.prefix !== prefix)
  if (left.length === records.length) {
    throw new CliError('usage', `no key has the prefix ${prefix}`, { nextStep: './orderflow api-key lists them' })
  }
  await keys.write(textOf(left))
  print(`${prefix}: revoked; running services refuse it within ${keys.delay}`)
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
