import { createHash, randomBytes, randomInt } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { Ajv } from 'ajv'
import { parsedJson } from '../json.ts'
import type { Caller } from './caller.ts'

/** The stored data of an API key. The key itself is shown only once, and never stored. */
export interface ApiKeyRecord {
  /** The name of the client. A client may have two keys while a new key replaces the old key. */
  name: string
  /** The public part of the key, for lists and logs. */
  prefix: string
  /** SHA-256 of the whole key, in hex. A fast hash is safe, because a key has 256 random bits. */
  hash: string
  scopes: string[]
  /** The client's TenantID; empty for a client without a tenant. */
  tenant: string
  /** The time when the key was created, in ISO 8601. */
  created: string
}

const form = /^ofk_[0-9A-Za-z]{8}_[\w-]{43}$/

export function createApiKey(
  { name, scopes, tenant }: Pick<ApiKeyRecord, 'name' | 'scopes' | 'tenant'>,
  now: Date,
): { key: string; record: ApiKeyRecord } {
  const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const prefix = Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join('')
  const key = `ofk_${prefix}_${randomBytes(32).toString('base64url')}`
  return { key, record: { name, prefix, hash: hashOf(key), scopes, tenant, created: now.toISOString() } }
}

export const isApiKey = (text: string): boolean => form.test(text)

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')

const strings = { type: 'array', items: { type: 'string' } }
const record = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1 },
    prefix: { type: 'string' },
    hash: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    scopes: strings,
    tenant: { type: 'string' },
    created: { type: 'string' },
  },
  required: ['name', 'prefix', 'hash', 'scopes', 'tenant', 'created'],
  additionalProperties: false,
}
const validate = new Ajv({ validateSchema: false }).compile<ApiKeyRecord[]>({ type: 'array', items: record })

/** Thrown if the API keys are unreadable. `message` contains the next step. */
export class ApiKeysError extends Error {
  readonly code = 'api-keys'
  /** True if the file was readable, but its text is not a valid list of keys. */
  readonly isText: boolean
  constructor(what: string, { isText }: { isText: boolean }) {
    super(
      `the API keys cannot be read: ${what}; Auth__ApiKeys is the path of a file that ./orderflow api-key writes, or its text`,
    )
    this.name = 'ApiKeysError'
    this.isText = isText
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ApiKeysError((error as Error).message, { isText: false })
  }
}

/** Returns the records of a text that `./orderflow api-key` writes. @throws {ApiKeysError} */
export function parseApiKeys(text: string): ApiKeyRecord[] {
  const records = parsedJson(text)
  if (records === undefined) throw new ApiKeysError('the text is not JSON', { isText: true })
  if (validate(records)) return records
  const [problem] = validate.errors ?? []
  throw new ApiKeysError(`${problem?.instancePath || 'the list'} ${problem?.message}`, { isText: true })
}

export type ApiKeys = ReturnType<typeof openApiKeys>

/** The interval at which the file is checked for changes. A revoked key stays valid for at most this time. */
const watchMs = 1_000

/**
 * Opens the API keys of a file or a text. A changed file is read again, so new and revoked keys need no restart. While the file is missing or
 * unreadable, all keys are refused. While the file does not contain a valid list, the previous keys stay valid, because the file may be half-written.
 * @param source the file's path, or the list itself in JSON
 * @param onProblem receives each new problem of the file, with the effect of the problem and the next step
 * @throws {ApiKeysError} if this call cannot read the keys
 */
export function openApiKeys(source: string, onProblem: (problem: string) => void) {
  if (source.trimStart().startsWith('[')) {
    const callers = callersOf(parseApiKeys(source))
    return { find: (key: string) => callers.get(hashOf(key)), close() {} }
  }
  let version = versionOf(source)
  let callers = callersOf(parseApiKeys(textOf(source)))
  let problem = ''
  const look = () => {
    const now = versionOf(source)
    if (now !== undefined && now === version) return
    version = now
    try {
      callers = callersOf(parseApiKeys(textOf(source)))
      problem = ''
    } catch (error) {
      const { isText, message } = error as ApiKeysError
      // The cause of the error may disappear without a change of the file, so the next check reads the file again.
      if (!isText) [callers, version] = [new Map(), undefined]
      const effect = isText ? 'the last valid API keys stay in use' : 'all API keys are refused'
      const last = problem
      problem = `${effect}: ${message} (${source}); next: restore the file, or remove it and run ./orderflow api-key to begin with an empty list`
      if (problem !== last) onProblem(problem)
    }
  }
  const watch = setInterval(look, watchMs).unref()
  /** Returns the caller of a key. Keys are found by their hash, so the response time reveals nothing about valid keys. */
  const find = (key: string) => {
    const hash = hashOf(key)
    if (!callers.has(hash)) look()
    return callers.get(hash)
  }
  return { find, close: () => clearInterval(watch) }
}

/**
 * Returns a text that changes whenever the file or its permissions change. It replaces `fs.watch`, which does not report changes by other machines.
 */
function versionOf(file: string): string | undefined {
  try {
    const { ino, mtimeNs, ctimeNs, size } = statSync(file, { bigint: true })
    return `${ino} ${mtimeNs} ${ctimeNs} ${size}`
  } catch {
    return undefined
  }
}

function callersOf(records: ApiKeyRecord[]): Map<string, Caller> {
  return new Map(
    records.map(({ name, prefix, hash, scopes, tenant }) => [
      hash,
      { id: `key:${prefix}`, key: name, scopes: new Set(scopes), tenant: { id: tenant, userId: '' } },
    ]),
  )
}
