import { statfsSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'

/**
 * The largest number of kept statements. The monitor has fewer SQL texts, because they contain placeholders instead of
 * values (tools/programs/rules/no-values-in-sql.grit).
 */
const maxStatements = 50

/** Prepares each statement once, and keeps a bounded number of them. */
export class Statements {
  readonly #database: DatabaseSync
  readonly #prepared = new Map<string, StatementSync>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  get size(): number {
    return this.#prepared.size
  }

  get(sql: string): StatementSync {
    const prepared = this.#prepared.get(sql)
    if (prepared) return prepared
    const statement = this.#database.prepare(sql)
    if (this.#prepared.size >= maxStatements) this.#prepared.delete(this.#prepared.keys().next().value as string)
    this.#prepared.set(sql, statement)
    return statement
  }
}

/**
 * Longest wait for a locked file. The last connection that closes a file locks it for a moment. The first connection
 * after a kill does the same.
 */
export const lockTimeoutMs = 10_000

/** Opens or creates a file for writing. If the preparation fails, closes the file. */
export function openDatabase(file: string, prepare: (database: DatabaseSync) => void): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: lockTimeoutMs })
  try {
    prepare(database)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

export function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version)
}

/**
 * SQLite rolls back automatically after some errors (https://www.sqlite.org/lang_transaction.html). A second ROLLBACK
 * would hide the first error.
 */
export function transaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/** SQLITE_CORRUPT and SQLITE_NOTADB (https://www.sqlite.org/rescode.html). */
const damaged = new Set([11, 26])

export const isDamaged = (error: unknown): boolean => damaged.has(((error as { errcode?: number }).errcode ?? 0) & 0xff)

/** SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL and SQLITE_CANTOPEN (https://www.sqlite.org/rescode.html). */
const sqliteFaults = new Set([8, 10, 13, 14])
const systemFaults = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EACCES', 'EMFILE', 'ENFILE'])

/** Returns a message with the next step if the folder's disk causes the error. Returns undefined for other errors. */
export function storageFault(error: unknown, folder: string): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { errcode, code = '' } = error as Error & { errcode?: number; code?: string }
  // SQLite's primary error code is the lowest byte.
  const primary = errcode === undefined ? undefined : errcode & 0xff
  const isFault = primary === undefined ? systemFaults.has(code) : sqliteFaults.has(primary)
  if (!isFault) return undefined
  const isFull = primary === 13 || code === 'ENOSPC' || code === 'EDQUOT' || hasNoSpace(folder)
  return isFull
    ? `no space left on the disk of ${folder}: delete files there; the monitor continues within seconds, without a restart`
    : `${folder} cannot be written (${error.message}): check its disk and its permissions; the monitor tries again every second`
}

/** Below this free space, SQLite cannot extend its shared memory. It then reports an I/O error, not a full disk. */
const leastBytes = 64 * 1024

function hasNoSpace(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize < leastBytes
  } catch {
    return false
  }
}
