/** An event to publish. `value` is the Kafka value as it is; `headers` become Kafka headers. */
export interface OutgoingEvent {
  topic: string
  key: string | undefined
  value: Uint8Array
  headers: Record<string, string>
}

/** A document of the state store, with the etag it was read at. */
export interface StoredDocument {
  value: unknown
  etag: string
}

/**
 * A write of one document. With `guard` the store refuses it when the document has changed since it was read: `etag` as
 * read, or `absent` when there was none. Without, the last writer wins.
 */
export interface Write {
  key: string
  value: string
  guard?: { etag: string } | 'absent'
}

/** How to reach the sidecar, and the names of its components. */
export interface SidecarSettings {
  Sidecar: { Host: string; HttpPort: number; GrpcPort: number; Token: string }
  /** `PubSub`: the components to publish through, separated by commas; the next one after a failure. */
  Stream: { PubSub: string }
  /** `Store`: empty for none. */
  State: { Store: string }
}

/** The sidecar as services use it: batches only, every result checked, every failure a `SidecarError`. */
export interface Sidecar {
  /**
   * From the beginning of a write to the next one, unless that is full: a small write costs as much as a larger one
   * (docs/adr/0018), so more in it is worth a few milliseconds.
   */
  readonly writeIntervalMs: number
  /** Publishes to one topic, in order. Fails as a whole: some events may be published all the same. */
  publish(topic: string, events: OutgoingEvent[]): Promise<void>
  /**
   * Returns documents by key, and may leave out some that exist: where an SQL database fails between two rows, Dapr's bulk read returns the
   * rows it has, without an error (components-contrib 1.18.3, BulkGet of state.postgresql and state.sqlite). `addMissing` makes sure of
   * an absence; a write that is guarded by `absent` needs no such check.
   */
  read(keys: string[]): Promise<Map<string, StoredDocument>>
  /** Returns the document, or undefined when it does not exist: an absence is certain here. */
  readOne(key: string): Promise<StoredDocument | undefined>
  /** Writes all documents or none. */
  transact(writes: Write[]): Promise<void>
  /** Writes each document by itself, all at the same time. When it fails, some may be written all the same. */
  save(writes: Write[]): Promise<void>
  /** Returns the type of the store behind it, as Dapr names it: `state.sqlite`. */
  storeType(): Promise<string>
  /** Returns what is not ready, in words: the sidecar's own health, and the store behind it, if there is one. Empty when all is ready. */
  missing(): Promise<{ sidecar?: string; store?: string }>
}

/** Reads documents by key. Each reader states whether a missing document is certainly absent. */
export type Read = Sidecar['read']

/*
 * A bulk read may leave out documents that exist (`Sidecar.read` explains why). The next three functions make sure of an absence.
 * docs/adr/0017 lists which of them applies where.
 */

/** Adds the documents that exist of the `keys` missing in `found`. Asks for each key by itself, so what is missing then is absent. */
export async function addMissing(
  sidecar: Sidecar,
  found: Map<string, StoredDocument>,
  keys: Iterable<string>,
): Promise<void> {
  for (const [key, document] of await readEach(sidecar, missingIn(found, keys))) found.set(key, document)
}

/** Returns the documents that exist, by key. Asks for each key by itself: a call for each, so about ten times the cost of a bulk read. */
export async function readEach(sidecar: Sidecar, keys: string[]): Promise<Map<string, StoredDocument>> {
  const documents = await Promise.all(keys.map((key) => sidecar.readOne(key)))
  return new Map(
    keys.flatMap((key, index): [string, StoredDocument][] => {
      const document = documents[index]
      return document ? [[key, document]] : []
    }),
  )
}

/**
 * Adds the documents that exist of the `keys` missing in `found`, on SQLite only: reads the missing keys in bulk until a read finds none.
 * SQLite reports an error before the first row, and Dapr drops only later ones (components-contrib 1.18.3, state/sqlite; modernc.org/sqlite
 * 1.34.5, `stmt.query`). So a read that finds nothing is complete.
 */
export async function addMissingInBulk(
  sidecar: Sidecar,
  found: Map<string, StoredDocument>,
  keys: Iterable<string>,
): Promise<void> {
  for (let missing = missingIn(found, keys); missing.length > 0; ) {
    const more = await sidecar.read(missing)
    if (more.size === 0) return
    for (const [key, document] of more) found.set(key, document)
    missing = missingIn(found, missing)
  }
}

function missingIn(found: Map<string, StoredDocument>, keys: Iterable<string>): string[] {
  return [...new Set(keys)].filter((key) => !found.has(key))
}

/**
 * - `unavailable`: there was no answer, or an unexpected one; the outcome of a write is unknown;
 * - `conflict`: another writer was faster, nothing was written;
 * - `refused`: too large or malformed for the sidecar, its store or its broker; another attempt is refused, too.
 */
export type SidecarFailure = 'unavailable' | 'conflict' | 'refused'

/** A sidecar call failed. */
export class SidecarError extends Error {
  readonly code = 'sidecar'
  readonly failure: SidecarFailure
  constructor(what: string, cause: unknown, failure: SidecarFailure = 'unavailable') {
    super(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'SidecarError'
    this.failure = failure
  }
}

/** The words of SQLite, of PostgreSQL and the system, and of MongoDB. */
const diskFull = /disk is full|no space left|OutOfDiskSpace/i

/** Returns whether an error text of the sidecar, its store or its broker reports a full disk. */
export const reportsFullDisk = (text: string): boolean => diskFull.test(text)

/** The words of gRPC in Go and in JavaScript, of Kafka, and of Dapr's client of Kafka. */
const tooLarge = /message (was )?too large|message.* larger than /i

/** Returns whether an error text reports a message above a limit of the sidecar or its broker. A smaller one may pass; this one never does. */
export const reportsTooLarge = (text: string): boolean => tooLarge.test(text)

/** Returns whether another writer was faster. */
export function isConflict(error: unknown): boolean {
  return error instanceof SidecarError && error.failure === 'conflict'
}

/** Returns whether the error must come from an item of the batch, and not from the platform. */
export function isRefusal(error: unknown): boolean {
  return error instanceof SidecarError && error.failure === 'refused'
}

/** The context of a step with an unknown outcome: `details` names its subject, such as an id. */
export interface Uncertainty {
  details?: Record<string, unknown>
  cause: unknown
}

/** A step was requested, and its outcome is unknown. `message` states which step, and how to try again without doing it twice. */
export class UncertainError extends Error {
  readonly code = 'uncertain'
  readonly details: Record<string, unknown>
  constructor(detail: string, { details = {}, cause }: Uncertainty) {
    super(detail, { cause })
    this.name = 'UncertainError'
    this.details = details
  }
}

/** A readiness probe waits for a few seconds only. */
export const readyTimeoutMs = 2_000

/** Returns why the sidecar itself is not ready, in words; undefined when it is. */
export async function sidecarFault(sidecar: { Host: string; HttpPort: number }): Promise<string | undefined> {
  try {
    const url = `http://${sidecar.Host}:${sidecar.HttpPort}/v1.0/healthz`
    const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(readyTimeoutMs) })
    return ok ? undefined : `its health answers ${status}`
  } catch {
    return 'does not answer'
  }
}

const unused = async (): Promise<never> => {
  throw new Error('there is nothing to do for the sidecar: the service produces nothing, and State__Store is empty')
}

/**
 * Creates the sidecar of a service that publishes nothing and stores nothing. It only asks for the sidecar's health, and so does not load
 * gRPC and Dapr's protocol, which take 35 MB.
 */
export function createIdleSidecar({ Sidecar: sidecar }: Pick<SidecarSettings, 'Sidecar'>): Sidecar {
  return {
    writeIntervalMs: 0,
    publish: unused,
    read: unused,
    readOne: unused,
    transact: unused,
    save: unused,
    storeType: unused,
    async missing() {
      const fault = await sidecarFault(sidecar)
      return fault === undefined ? {} : { sidecar: fault }
    },
  }
}
