import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { unavailable } from '@orderflow/service-kit'
import type { Audit, Job } from '../api/dead-letters.ts'
import { lockTimeoutMs } from '../index/segment.ts'
import { storageFault } from '../index/storage-fault.ts'

/** A job, with what it has still to do. */
export interface KeptJob {
  job: Job
  /** Ids of entries, in order. */
  entries: string[]
  /** Of them, how many are settled. */
  next: number
  /** As it was edited, for a single entry: personal values and all, so it is forgotten when the job ends. */
  edited: string | null
}

export type AuditItem = Audit['items'][number]

/**
 * Jobs and who looked at what: a file beside the index, so that both survive a restart. Written before anybody is answered.
 * Each function throws an `HttpProblem` with status 503 while the disk is full or cannot be used.
 */
export interface Ledger {
  save(kept: KeptJob): void
  find(id: string): KeptJob | undefined
  /** The newest first. */
  jobs(limit: number): Job[]
  /** Those that a stop interrupted. */
  running(): KeptJob[]
  record(item: AuditItem): void
  audit(limit: number): AuditItem[]
  close(): void
}

const schema = `
CREATE TABLE IF NOT EXISTS jobs (id TEXT PRIMARY KEY, startedAt TEXT NOT NULL, state TEXT NOT NULL, body TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS audit (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
`

/** Opened when it is first used. */
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
    save: (kept) => use((ledger) => ledger.save(kept)),
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
    // FULL, unlike the index: nothing else remembers it.
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; ${schema}`)
    return ledgerOn(database)
  } catch (error) {
    database.close()
    throw error
  }
}

function ledgerOn(database: DatabaseSync): Ledger {
  const bodies = (sql: string, ...values: (string | number)[]) =>
    (database.prepare(sql).all(...values) as { body: string }[]).map(({ body }) => JSON.parse(body) as unknown)
  const save = database.prepare(
    'INSERT INTO jobs VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) DO UPDATE SET state = ?3, body = ?4',
  )
  const record = database.prepare('INSERT INTO audit (body) VALUES (?)')
  return {
    save(kept) {
      save.run(kept.job.id, kept.job.startedAt, kept.job.state, JSON.stringify(kept))
      // What was edited has personal values: with the job's end it is in none of the files.
      if (kept.job.state !== 'running') database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    },
    find: (id) => bodies('SELECT body FROM jobs WHERE id = ?', id)[0] as KeptJob | undefined,
    jobs: (limit) =>
      (bodies('SELECT body FROM jobs ORDER BY startedAt DESC LIMIT ?', limit) as KeptJob[]).map(({ job }) => job),
    running: () => bodies("SELECT body FROM jobs WHERE state = 'running' ORDER BY startedAt") as KeptJob[],
    record: (item) => void record.run(JSON.stringify(item)),
    audit: (limit) => bodies('SELECT body FROM audit ORDER BY id DESC LIMIT ?', limit) as AuditItem[],
    close: () => database.close(),
  }
}
