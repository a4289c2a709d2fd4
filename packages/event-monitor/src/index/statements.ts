import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** More than the monitor has texts of SQL for one database, since no text contains a value (test/lint/no-values-in-sql.grit). */
const maxStatements = 50

/** Prepares each statement of a database once, and keeps a bounded number of them. */
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
    const known = this.#prepared.get(sql)
    if (known) return known
    const statement = this.#database.prepare(sql)
    if (this.#prepared.size >= maxStatements) this.#prepared.delete(this.#prepared.keys().next().value as string)
    this.#prepared.set(sql, statement)
    return statement
  }
}
