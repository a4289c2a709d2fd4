import type { DatabaseSync } from 'node:sqlite'

/**
 * Runs a unit of work in one transaction: all of it is stored, or nothing.
 *
 * SQLite rolls back by itself after some errors, such as a full disk (https://www.sqlite.org/lang_transaction.html). A ROLLBACK after that
 * throws an error of its own, which would hide the first one and skip the caller's clean-up.
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
