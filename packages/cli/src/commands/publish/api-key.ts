import { type ApiKeyRecord, createApiKey, isScope, table } from '@orderflow/service-kit/setup'
import { type ApiKeys, readApiKeys } from '@orderflow/stack'
import { CliError, print } from '@orderflow/stack/base'
import type { Command, Given } from '../../command-line.ts'

export const command: Command = {
  parameters: '[list|create|revoke] [NAME|PREFIX]',
  options: {
    scopes: {
      value: 'SCOPES',
      summary: 'create: the permissions of the key, such as "events:read events:operate"',
    },
    tenant: { value: 'TENANT', summary: 'create: the tenant whose data the key can access' },
  },
  run: apiKey,
}

const usage = './orderflow api-key create shop --scopes "events:read" [--tenant acme]'
const refuse = (message: string, nextStep = usage): never => {
  throw new CliError('usage', message, { nextStep })
}

/** Changes the keys of the running stack, otherwise those of this checkout. */
async function apiKey({ args: [action = 'list', name], text }: Given): Promise<void> {
  const [scopes, tenant = ''] = [text('scopes'), text('tenant')]
  const keys = await readApiKeys()
  if (action !== 'create' && (scopes || tenant)) refuse('--scopes and --tenant are only for create')
  if (action === 'list') list(keys.records)
  else if (action === 'revoke') await revoke(keys, name)
  else if (action !== 'create') refuse(`api-key: unknown action ${action}`)
  else if (!name) refuse('the name is missing: name the owner of the key')
  else await make(keys, { name, scopes: readScopes(scopes), tenant })
}

async function make(keys: ApiKeys, asked: Parameters<typeof createApiKey>[0]): Promise<void> {
  const { key, record } = createApiKey(asked, new Date())
  await keys.write([...keys.records, record])
  print(key)
  print()
  print(`This is the key of ${record.name}. It is shown only once, because only its hash is stored (${keys.name}).`)
  print(`next: curl -H "Authorization: Bearer $KEY" ..., and ./orderflow api-key revoke ${record.prefix} to revoke it`)
}

async function revoke(keys: ApiKeys, prefix: string | undefined): Promise<void> {
  const lists = './orderflow api-key lists them'
  if (!prefix) return refuse('the prefix of the key is missing', lists)
  const left = keys.records.filter((record) => record.prefix !== prefix)
  if (left.length === keys.records.length) refuse(`no key has the prefix ${prefix}`, lists)
  await keys.write(left)
  print(`${prefix}: revoked; running services refuse it within ${keys.delay}`)
}

function list(records: readonly ApiKeyRecord[]): void {
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
  return refuse(`${what}; the services’ pages list the scopes, such as events:read`)
}
