import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { unavailable } from '@orderflow/service-kit'
import type { ReplayJournal } from '@orderflow/service-kit/log'
import type { Audit, Job } from '../api/dead-letters.ts'
import { openDatabase, Statements, storageFault, transaction } from '../index/sqlite.ts'

export interface ChosenEntry {
  id: string
  /** The position of the newest attempt. */
  attempt: string
}

export interface KeptJob {
  job: Job
  entries: ChosenEntry[]
  next: number
  /** The edited event of a job with one entry. It is deleted when the job ends. */
  edited: string | null
  /** Digest of the request's body. A retry with the same Idempotency-Key must have the same digest. */
  fingerprint: string | null
}

export type AuditItem = Audit['items'][number]

export interface ReplayResults {
  audit: AuditItem[]
  positions: string[]
}

/** A job without its entries, which only a running job needs. */
export type StoredJob = Omit<KeptJob, 'entries'>

/**
 * Stores jobs and the audit log next to the index. Each function returns after its changes are stored. While the disk
 * is full or cannot be used, each throws an `HttpProblem` with status 503.
 */
export interface Ledger extends ReplayJournal {
  save(kept: KeptJob, results?: ReplayResults): void
  find(id: string): StoredJob | undefined
  /** Newest first. */
  jobs(limit: number): Job[]
  running(): KeptJob[]
  record(item: AuditItem): void
  audit(limit: number): AuditItem[]
  close(): void
}

const schema = `
CREATE TABLE IF NOT EXISTS jobs (id TEXT PRIMARY KEY, startedAt TEXT NOT NULL, state TEXT NOT NULL, body TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS chosen (job TEXT PRIMARY KEY, entries TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS audit (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS intents (failed TEXT PRIMARY KEY, start TEXT NOT NULL) STRICT;
`

/** Opens the file on its first use. */
export function createLedger(folder: string): Ledger {
  let opened: { database: DatabaseSync; statements: Statements } | undefined

  function use<Result>(work: (run: Run, database: DatabaseSync) => Result): Result {
    try {
      opened ??= openLedger(folder)
      const { database, statements } = opened
      return work((sql, ...values) => statements.get(sql).all(...values) as Record<string, string>[], database)
    } catch (error) {
      const fault = storageFault(error, folder)
      throw fault === undefined
        ? error
        : unavailable(`The ledger of replays and views cannot be used: ${fault}.`, {}, error)
    }
  }

  const bodies = <Body>(sql: string, ...values: Value[]) =>
    use((run) => run(sql, ...values).map(({ body }) => JSON.parse(body as string) as Body))
  const record = (run: Run, item: AuditItem) => run('INSERT INTO audit (body) VALUES (?)', JSON.stringify(item))
  const entriesOf = (run: Run, job: string) => run('SELECT entries FROM chosen WHERE job = ?', job)[0]?.entries

  return {
    save: (kept, results = { audit: [], positions: [] }) =>
      use((run, database) => {
        const { entries, ...rest } = kept
        const { id, startedAt, state } = kept.job
        transaction(database, () => {
          for (const item of results.audit) record(run, item)
          for (const position of results.positions) run('DELETE FROM intents WHERE failed = ?', position)
          // A job may have 100,000 entries, so they are written only once.
          if (state !== 'running') run('DELETE FROM chosen WHERE job = ?', id)
          else if (entriesOf(run, id) === undefined)
            run('INSERT INTO chosen VALUES (?, ?)', id, JSON.stringify(entries))
          const sql = 'INSERT INTO jobs VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) DO UPDATE SET state = ?3, body = ?4'
          run(sql, id, startedAt, state, JSON.stringify(rest))
        })
        // Removes the personal values of an edited event from the write-ahead log, too.
        if (state !== 'running') database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      }),
    begin: (intents) =>
      use((run, database) =>
        transaction(database, () => {
          for (const { of, from } of intents)
            run('INSERT INTO intents VALUES (?, ?) ON CONFLICT DO NOTHING', of, String(from))
        }),
      ),
    begun: (of) =>
      use((run) => {
        const [intent] = run('SELECT start FROM intents WHERE failed = ?', of)
        return intent && { of, from: BigInt(intent.start as string) }
      }),
    find: (id) => bodies<StoredJob>('SELECT body FROM jobs WHERE id = ?', id)[0],
    jobs: (limit) =>
      bodies<StoredJob>('SELECT body FROM jobs ORDER BY startedAt DESC LIMIT ?', limit).map(({ job }) => job),
    running() {
      const sql = "SELECT body FROM jobs WHERE state = 'running' ORDER BY startedAt"
      return bodies<StoredJob & Partial<KeptJob>>(sql).map((stored) => {
        const entries = use((run) => entriesOf(run, stored.job.id))
        // Version 0.2.0 stored the entries together with the job.
        return { ...stored, entries: entries ? (JSON.parse(entries) as ChosenEntry[]) : (stored.entries ?? []) }
      })
    },
    record: (item) => void use((run) => record(run, item)),
    audit: (limit) => bodies<AuditItem>('SELECT body FROM audit ORDER BY id DESC LIMIT ?', limit),
    close: () => opened?.database.close(),
  }
}

type Value = string | number

/** Runs a statement, and returns its rows. */
type Run = (sql: string, ...values: Value[]) => Record<string, string>[]

function openLedger(folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const database = openDatabase(join(folder, 'ledger.sqlite'), (opened) =>
    // FULL keeps the data after a power failure. The index does not need FULL, because the log has its events.
    opened.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; ${schema}`),
  )
  return { database, statements: new Statements(database) }
}
