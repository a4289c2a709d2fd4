import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { unavailable } from '@orderflow/service-kit'
import type { ReplayJournal } from '@orderflow/service-kit/log'
import type { Audit, Job } from '../api/dead-letters.ts'
import { lockTimeoutMs } from '../index/segment.ts'
import { Statements, storageFault, transaction } from '../index/sqlite.ts'

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
  let opened: Ledger | undefined
  function use<Result>(work: (ledger: Ledger) => Result): Result {
    try {
      opened ??= openLedger(folder)
      return work(opened)
    } catch (error) {
      const fault = storageFault(error, folder)
      throw fault === undefined
        ? error
        : unavailable(`The ledger of replays and views cannot be used: ${fault}.`, {}, error)
    }
  }
  return {
    save: (kept, results) => use((ledger) => ledger.save(kept, results)),
    begin: (intents) => use((ledger) => ledger.begin(intents)),
    begun: (of) => use((ledger) => ledger.begun(of)),
    find: (id) => use((ledger) => ledger.find(id)),
    jobs: (limit) => use((ledger) => ledger.jobs(limit)),
    running: () => use((ledger) => ledger.running()),
    record: (item) => use((ledger) => ledger.record(item)),
    audit: (limit) => use((ledger) => ledger.audit(limit)),
    close: () => opened?.close(),
  }
}

function openLedger(folder: string): Ledger {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const database = new DatabaseSync(join(folder, 'ledger.sqlite'), { timeout: lockTimeoutMs })
  try {
    // FULL keeps the data after a power failure. The index does not need FULL, because the log has its events.
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; ${schema}`)
    return ledgerOn(database)
  } catch (error) {
    database.close()
    throw error
  }
}

function ledgerOn(database: DatabaseSync): Ledger {
  const statements = new Statements(database)
  const bodies = (sql: string, ...values: (string | number)[]) =>
    (statements.get(sql).all(...values) as { body: string }[]).map(({ body }) => JSON.parse(body) as unknown)
  const save = database.prepare(
    'INSERT INTO jobs VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) DO UPDATE SET state = ?3, body = ?4',
  )
  const choose = database.prepare('INSERT INTO chosen VALUES (?, ?)')
  const chosen = database.prepare('SELECT entries FROM chosen WHERE job = ?')
  const forget = database.prepare('DELETE FROM chosen WHERE job = ?')
  const record = database.prepare('INSERT INTO audit (body) VALUES (?)')
  const begin = database.prepare('INSERT INTO intents VALUES (?, ?) ON CONFLICT DO NOTHING')
  const begun = database.prepare('SELECT start FROM intents WHERE failed = ?')
  const settle = database.prepare('DELETE FROM intents WHERE failed = ?')
  return {
    save(kept, results = { audit: [], positions: [] }) {
      transaction(database, () => {
        for (const item of results.audit) record.run(JSON.stringify(item))
        for (const position of results.positions) settle.run(position)
        const { entries, ...rest } = kept
        const { id, startedAt, state } = kept.job
        // A job may have 100,000 entries, so they are written only once.
        if (state !== 'running') forget.run(id)
        else if (chosen.get(id) === undefined) choose.run(id, JSON.stringify(entries))
        save.run(id, startedAt, state, JSON.stringify(rest))
      })
      // Removes the personal values of an edited event from the write-ahead log, too.
      if (kept.job.state !== 'running') database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    },
    begin(intents) {
      transaction(database, () => {
        for (const { of, from } of intents) begin.run(of, String(from))
      })
    },
    begun(of) {
      const intent = begun.get(of) as { start: string } | undefined
      return intent && { of, from: BigInt(intent.start) }
    },
    find: (id) => (bodies('SELECT body FROM jobs WHERE id = ?', id) as StoredJob[])[0],
    jobs: (limit) =>
      (bodies('SELECT body FROM jobs ORDER BY startedAt DESC LIMIT ?', limit) as StoredJob[]).map(({ job }) => job),
    running: () =>
      (
        bodies("SELECT body FROM jobs WHERE state = 'running' ORDER BY startedAt") as (StoredJob & Partial<KeptJob>)[]
      ).map((stored) => {
        const row = chosen.get(stored.job.id) as { entries: string } | undefined
        // Version 0.2.0 stored the entries together with the job.
        return { ...stored, entries: row ? (JSON.parse(row.entries) as ChosenEntry[]) : (stored.entries ?? []) }
      }),
    record: (item) => void record.run(JSON.stringify(item)),
    audit: (limit) => bodies('SELECT body FROM audit ORDER BY id DESC LIMIT ?', limit) as AuditItem[],
    close: () => database.close(),
  }
}
