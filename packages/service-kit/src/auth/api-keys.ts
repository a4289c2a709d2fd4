import { createHash, randomBytes, randomInt } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { Ajv } from 'ajv'
import type { Caller } from './caller.ts'

/** What is kept of an API key. The key itself is shown once, to whoever made it. */
export interface ApiKeyRecord {
  /** Who uses it. Several keys may have the same name, so that one can take the place of another. */
  name: string
  /** The public part of the key, by which it is known in lists and logs. */
  prefix: string
  /** SHA-256 of the whole key, in hex. 256 random bits cannot be guessed, so the hash may be a fast one. */
  hash: string
  scopes: string[]
  /** TenantID of what it does; empty for none. */
  tenant: string
  /** ISO 8601. */
  created: string
}

/** Whether a text looks like a key and not like a token: found by scanners for secrets, too. */
const form = /^ofk_[0-9A-Za-z]{8}_[\w-]{43}$/

/** A new key and its record. */
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

/** API keys that cannot be read. `message` says what to do about it. */
export class ApiKeysError extends Error {
  readonly code = 'api-keys'
  /** Whether the file could be read, and its text is not a list of keys. */
  readonly isText: boolean
  constructor(what: string, { isText }: { isText: boolean }) {
    super(
      `the API keys cannot be read: ${what}; Auth__ApiKeys is the path of a file that ./orderflow api-key writes, or its text`,
    )
    this.name = 'ApiKeysError'
    this.isText = isText
  }
}

/** The records of a file that `./orderflow api-key` writes. @throws {ApiKeysError} */
export function readApiKeys(file: string): ApiKeyRecord[] {
  return parseApiKeys(textOf(file))
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ApiKeysError((error as Error).message, { isText: false })
  }
}

function parseApiKeys(text: string): ApiKeyRecord[] {
  const records = parsed(text)
  if (validate(records)) return records
  const [problem] = validate.errors ?? []
  throw new ApiKeysError(`${problem?.instancePath || 'the list'} ${problem?.message}`, { isText: true })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiKeysError('they are not JSON', { isText: true })
  }
}

/** The keys that count now. */
export interface ApiKeys {
  /**
   * Whose key it is. A key is looked up by its hash, which says nothing of how near a guess was: unknown, wrong and revoked are the same,
   * also in time.
   */
  find(key: string): Caller | undefined
  close(): void
}

/** How often the file is looked at: a key that was revoked counts for so long. */
const watchMs = 1_000

/**
 * The keys of a file, or of a text. A file is read again when it changes: a new or revoked key needs no restart. The file is also read
 * when a key is unknown, so that a new key is valid at once in every service. All keys are refused while the file is missing or cannot be
 * read. While its text is not a list of keys, the keys that were read last stay valid, because somebody may be writing it.
 * @param source the file's path, or the list itself in JSON
 * @param onProblem receives each new problem of the file: what is wrong, what it means for callers, and what to do next
 * @throws {ApiKeysError} when it cannot be read now
 */
export function openApiKeys(source: string, onProblem: (problem: string) => void): ApiKeys {
  if (source.trimStart().startsWith('[')) {
    const callers = callersOf(parseApiKeys(source))
    return { find: (key) => callers.get(hashOf(key)), close() {} }
  }
  let version = versionOf(source)
  let callers = callersOf(readApiKeys(source))
  let problem = ''
  const refuse = ({ isText, message }: ApiKeysError) => {
    if (!isText) callers = new Map()
    const effect = isText ? 'the keys that were read last stay valid' : 'all API keys are refused'
    const last = problem
    problem = `${effect}: ${message} (${source}); next: restore the file, or remove it and run ./orderflow api-key to begin with an empty list`
    if (problem !== last) onProblem(problem)
  }
  const look = () => {
    const now = versionOf(source)
    if (now !== undefined && now === version) return
    version = now
    try {
      callers = callersOf(readApiKeys(source))
      problem = ''
    } catch (error) {
      refuse(error as ApiKeysError)
      // The cause may go away without a change of the file.
      if (!(error as ApiKeysError).isText) version = undefined
    }
  }
  const watch = setInterval(look, watchMs).unref()
  const find = (key: string) => {
    const hash = hashOf(key)
    if (!callers.has(hash)) look()
    return callers.get(hash)
  }
  return { find, close: () => clearInterval(watch) }
}

/**
 * Another one whenever the file is written or its permissions change; undefined when there is no file. Not fs.watch, which reports nothing
 * of a file that was replaced from another machine.
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
