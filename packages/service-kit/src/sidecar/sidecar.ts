export interface OutgoingEvent {
  topic: string
  key: string | undefined
  value: Uint8Array
  headers: Record<string, string>
}

export interface StoredDocument {
  value: unknown
  etag: string
}

/**
 * A write of one document. With an etag as `guard`, the store refuses the write if the document has changed since it was read with this etag. With
 * `absent`, the store refuses the write if the document exists. Without `guard`, the last writer wins.
 */
export interface Write {
  key: string
  value: string
  guard?: { etag: string } | 'absent'
}

export interface Store {
  /** The type as Dapr names it: `state.sqlite`. */
  type: string
  /** True if callers choose the etags of their writes, so that a later read shows which writes succeeded. */
  choosesEtags: boolean
}

export interface SidecarSettings {
  Sidecar: { Host: string; HttpPort: number; GrpcPort: number; Token: string }
  /** `PubSub`: the components for publishing, separated by commas. After a failure, the next component is used. */
  Stream: { PubSub: string }
  /** `Store`: the component for documents; empty for a service without a store. */
  State: { Store: string }
}

/** The sidecar's API for services. Its functions work on batches, and throw `SidecarError`. */
export interface Sidecar {
  /**
   * The shortest time between the beginnings of two writes. A small write costs as much as a large write, so documents are collected during this time
   * (docs/adr/0018).
   */
  readonly writeIntervalMs: number
  /** Publishes events to one topic, in the given order. If the call fails, some events may still have been published. */
  publish(topic: string, events: OutgoingEvent[]): Promise<void>
  /**
   * Returns documents by key, but may leave out existing documents. If an SQL database fails between two rows, Dapr returns the earlier rows without
   * an error (components-contrib 1.18.3, BulkGet of state.postgresql and state.sqlite). `addMissing` confirms that missing documents are absent. A
   * write with the guard `absent` needs no confirmation.
   */
  read(keys: string[]): Promise<Map<string, StoredDocument>>
  /** Returns the document, or undefined if it certainly does not exist. */
  readOne(key: string): Promise<StoredDocument | undefined>
  transact(writes: Write[]): Promise<void>
  /**
   * Writes all documents in one call. If the call fails, some documents may still have been written.
   * @param etag a UUID, which the written documents get as their etag if `store` returns `choosesEtags`
   * @param needed if `store` returns `choosesEtags`, a failed guard of the first `needed` documents prevents all writes of the call
   */
  save(writes: Write[], etag: string, needed?: number): Promise<void>
  /** Removes documents, whether they exist or not. If the call fails, some may still have been removed. */
  remove(keys: string[]): Promise<void>
  store(): Promise<Store>
  /**
   * Returns a text that differs between servers of the store, and between two runs of a server; undefined if the store does not report it. Only
   * PostgreSQL reports it.
   */
  storeServer(): Promise<string | undefined>
  /** Makes later calls of `save` fail on any other server of the store. */
  requireServer(server: string | undefined): void
  /** Returns the reason why the sidecar itself is unhealthy; otherwise undefined. */
  fault(): Promise<string | undefined>
  /** Returns the reason why the store is unavailable; otherwise, or for a service without a store, undefined. */
  storeFault(): Promise<string | undefined>
}

export type Read = Sidecar['read']

/* The next two functions confirm that documents are absent, because a bulk read may leave out existing documents. docs/adr/0017 lists their uses. */

/**
 * Reads the `keys` that `found` does not contain, and adds the existing documents to `found`. It reads each key alone, which costs about ten times as
 * much as a bulk read.
 */
export async function addMissing(sidecar: Sidecar, found: Map<string, StoredDocument>, keys: Iterable<string>) {
  const missing = missingIn(found, keys)
  const documents = await Promise.all(missing.map((key) => sidecar.readOne(key)))
  for (const [index, key] of missing.entries()) if (documents[index]) found.set(key, documents[index])
}

/**
 * Reads the `keys` that `found` does not contain, and adds the existing documents to `found`. It reads in bulk, until a read returns nothing. Use it
 * for SQLite only. SQLite reports errors before the first row, and Dapr hides only errors after the first row (components-contrib 1.18.3,
 * state/sqlite; modernc.org/sqlite 1.34.5, `stmt.query`). So an empty result proves that the documents are absent.
 */
export async function addMissingInBulk(sidecar: Sidecar, found: Map<string, StoredDocument>, keys: Iterable<string>) {
  for (let missing = missingIn(found, keys); missing.length > 0; ) {
    const more = await sidecar.read(missing)
    if (more.size === 0) return
    for (const [key, document] of more) found.set(key, document)
    missing = missingIn(found, missing)
  }
}

const missingIn = (found: Map<string, StoredDocument>, keys: Iterable<string>): string[] =>
  [...new Set(keys)].filter((key) => !found.has(key))

/**
 * The kind of a failure:
 * - `unavailable`: no answer, or an unexpected answer; the outcome of a write is unknown;
 * - `conflict`: another writer was faster, and nothing was written;
 * - `refused`: too large or malformed for the sidecar, its store or its broker; further attempts fail, too.
 */
export type SidecarFailure = 'unavailable' | 'conflict' | 'refused'

export class SidecarError extends Error {
  readonly code = 'sidecar'
  readonly failure: SidecarFailure
  constructor(what: string, cause: unknown, failure: SidecarFailure = 'unavailable') {
    super(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'SidecarError'
    this.failure = failure
  }
}

export const reportsFullDisk = (text: string): boolean => /disk is full|no space left|OutOfDiskSpace/i.test(text)

/** Returns true for errors about large messages, from gRPC in Go and JavaScript, from Kafka, and from Dapr's Kafka client. */
export const reportsTooLarge = (text: string): boolean => /message (was )?too large|message.* larger than /i.test(text)

const hasFailure = (failure: SidecarFailure) => (error: unknown) =>
  error instanceof SidecarError && error.failure === failure

export const isConflict = hasFailure('conflict')
export const isOutage = hasFailure('unavailable')
export const isRefusal = hasFailure('refused')

/** Thrown by each use of a store that lost acknowledged writes. `message` names the rebuild. */
export class LostWritesError extends SidecarError {
  constructor(reason: string) {
    super('use the store', reason)
    this.name = 'LostWritesError'
  }
}

/** Thrown for an operation that was not run, because an earlier operation of its run failed. */
export class HeldError extends SidecarError {
  constructor() {
    super('change a document', new Error('an earlier event of its key failed'))
    this.name = 'HeldError'
  }
}

/**
 * Thrown if the outcome of a step is unknown. `message` names the step, and explains how to repeat the step safely. `details` names the object of
 * the step, such as an order.
 */
export class UncertainError extends Error {
  readonly code = 'uncertain'
  readonly details: Record<string, unknown>
  constructor(detail: string, { details = {}, cause }: { details?: Record<string, unknown>; cause: unknown }) {
    super(detail, { cause })
    this.name = 'UncertainError'
    this.details = details
  }
}

/** The longest time that a check of the sidecar takes, because readiness probes wait only a few seconds. */
export const readyTimeoutMs = 2_000

export async function sidecarFault(sidecar: { Host: string; HttpPort: number }): Promise<string | undefined> {
  try {
    const url = `http://${sidecar.Host}:${sidecar.HttpPort}/v1.0/healthz`
    const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(readyTimeoutMs) })
    return ok ? undefined : `its health answers ${status}`
  } catch {
    return 'does not answer'
  }
}

/** The longest time that a stop of the service waits for the sidecar's answer. */
const endTimeoutMs = 500

/** Asks the sidecar to end its process. Platforms then start it again. @throws if the sidecar does not accept the request */
export async function endSidecar({ Host, HttpPort, Token }: SidecarSettings['Sidecar']): Promise<void> {
  const { ok, status } = await fetch(`http://${Host}:${HttpPort}/v1.0/shutdown`, {
    method: 'POST',
    headers: { 'dapr-api-token': Token },
    signal: AbortSignal.timeout(endTimeoutMs),
  })
  if (!ok) throw new Error(`the sidecar answers ${status}`)
}

const unused = async (): Promise<never> => {
  throw new Error('this service can neither publish nor store: produces and State__Store are empty')
}

/**
 * Creates a sidecar that only reports its health, for a service that neither stores nor publishes. It does not load gRPC and Dapr's protocol, which
 * take 35 MB of memory.
 */
export function createIdleSidecar({ Sidecar: sidecar }: Pick<SidecarSettings, 'Sidecar'>): Sidecar {
  return {
    writeIntervalMs: 0,
    publish: unused,
    read: unused,
    readOne: unused,
    transact: unused,
    save: unused,
    remove: unused,
    store: unused,
    storeServer: async () => undefined,
    requireServer: () => {},
    fault: () => sidecarFault(sidecar),
    storeFault: async () => undefined,
  }
}
