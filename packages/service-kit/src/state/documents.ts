import { createBatcher, type QueueWatch, type Settled } from '../sidecar/batcher.ts'
import { callSidecar } from '../sidecar/handler-time.ts'
import { addMissing, isRefusal, type Read, type Sidecar, type StoredDocument } from '../sidecar/sidecar.ts'
import { asSpan } from '../telemetry/context.ts'
import { type Announcing, createAnnouncing } from './announcing.ts'
import { createArrivalLists } from './arrival-list.ts'
import type { UnitOfWork } from './batch.ts'
import { createFiring } from './deadlines/create-firing.ts'
import type { Firing } from './deadlines/firing.ts'
import { type Load, type Page, type PageOptions, type Reader, readPage } from './list-page.ts'
import { spaceOf } from './spaces.ts'
import { createUnitOfWork } from './unit-of-work.ts'

/** A tenant's documents in the state store. Concurrent calls for all tenants share bulk requests to the sidecar. */
export interface Documents {
  /**
   * Returns the existing documents by key. It reads them in bulk, then each missing key alone. A document that is still missing is certainly absent.
   */
  read: Read
  /** Reads documents, decides and writes. If another process changed the documents first, it repeats these steps. */
  change: UnitOfWork
  /**
   * Returns a page of the tenant's list, with the newest arrival first.
   * @param load reads the documents of the ids with the given `read`, and returns them in the order of the ids. For missing ids it is called again,
   * and then `read` reads each key alone. An item is not read again if only some of its documents are missing, so it may be outdated.
   * @throws {CursorError} if the cursor belongs to another list
   */
  page<T>(options: PageOptions, load: Load<T>): Promise<Page<T>>
  /** Returns a number that changes when the store may have lost writes. Then forget documents that you remember. */
  generation(): number
  /** Returns the key with the prefix of the tenant. */
  fullKey(key: string): string
  /** The announcing of events that are stored in documents, for all tenants. */
  announcing: Announcing
  /** The firing of deadlines, for all tenants. */
  firing: Firing
}

/** Returns the documents of the tenant with this TenantID, which may be empty. */
export type DocumentsOf = (tenant: string) => Documents

const internal = { kind: 'internal' } as const

/**
 * Creates the function that returns the documents of a tenant.
 * @param isShared true if this service does not separate tenants (`Auth__Mode`)
 * @param options.watch receives the size and the times of each stored batch
 * @param options.generation returns the number of times that the store may have lost writes
 * @param options.report receives a bug that prevents the announcement of an event, or the firing of a deadline
 * @param options.time returns the time of the log, in milliseconds since 1970; undefined if it is unknown, and then no deadline is fired
 * @param options.lag returns the number of fired deadlines that the service has not handled
 */
export function createDocuments(
  sidecar: Sidecar,
  now: () => Date,
  isShared = false,
  {
    watch,
    generation = () => 0,
    report = () => {},
    elapsed = () => performance.now(),
    time = () => undefined,
    lag = async () => 0,
  }: DocumentsOptions = {},
): DocumentsOf {
  const reader = createReader(sidecar)
  const scanned: Read = (keys) => callSidecar(() => sidecar.read(keys))
  const replace = <T>(key: string, decide: (stored: T | undefined) => T | undefined) =>
    changeMany({
      key,
      bytes: 1_000,
      decide(view) {
        const value = decide(view.get(key))
        if (value) view.write(value)
      },
    })
  const announcing = createAnnouncing({
    read: scanned,
    replace,
    flush: (key) => changeMany({ key, bytes: 1_000, announces: true, decide: () => {} }),
    report,
    elapsed,
  })
  const firing = createFiring({
    read: (keys) => callSidecar(() => reader.read(keys)),
    scan: scanned,
    replace,
    async arm(entries, notBefore) {
      await changeMany({
        key: armingKey,
        bytes: entries.length * entryBytes,
        arms: true,
        decide(view) {
          for (const entry of entries) view.arm(entry, notBefore)
        },
      })
    },
    flush: (key) => changeMany({ key, bytes: 1_000, arms: true, decide: () => {} }),
    remove: (keys) => callSidecar(() => sidecar.remove(keys)),
    time,
    lag,
    report,
    now,
    elapsed,
  })
  const own = { register: announcing.writer, lane: firing.writer }
  const changeMany = createUnitOfWork(sidecar, createArrivalLists(now, { own, elapsed }), watch)
  const reading =
    (work: Read): Read =>
    (keys) =>
      callSidecar(() => asSpan('read state', internal, () => work(keys)))
  const [read, scan] = [reading(reader.read), reading(reader.scan)]
  const change: UnitOfWork = (work) => asSpan('change state', internal, () => changeMany(work))
  function documentsIn(space: string): Documents {
    const own = { read: readIn(space, read), scan: readIn(space, scan) }
    return {
      read: own.read,
      change: changeIn(space, change),
      page: (options, load) => readPage(own, options, load),
      generation,
      fullKey: (key) => space + key,
      announcing,
      firing,
    }
  }
  const common = documentsIn('')
  return (tenant) => (isShared || tenant === '' ? common : documentsIn(spaceOf(tenant)))
}

interface DocumentsOptions {
  watch?: QueueWatch
  generation?: () => number
  report?: (error: unknown) => void
  elapsed?: () => number
  time?: () => number | undefined
  lag?: () => Promise<number>
}

/** The key of changes that only add deadlines. No document has it. */
const armingKey = 'due'
/** The size of a deadline in a chunk. */
const entryBytes = 150

function readIn(space: string, read: Read): Read {
  if (space === '') return read
  return async (keys) => {
    const found = await read(keys.map((key) => space + key))
    return new Map(Array.from(found, ([key, document]) => [key.slice(space.length), document]))
  }
}

function changeIn(space: string, change: UnitOfWork): UnitOfWork {
  if (space === '') return change
  return (work) =>
    change({
      ...work,
      space,
      key: space + work.key,
      beside: work.beside?.map((key) => space + key) ?? [],
      decide: (view) => work.decide({ ...view, get: (key) => view.get(space + key) }),
    })
}

/** The limits of bulk reads. There is no pause between reads, because callers wait, and a list needs several reads in sequence. */
const readLimits = { maxItems: 200, maxBytes: 2_000, maxWaiting: 10_000, minIntervalMs: 0 }

/** Creates a reader whose callers share bulk reads of at most 2,000 keys. */
export function createReader(sidecar: Sidecar): Reader {
  async function flush(requests: string[][]): Promise<Settled<Map<string, StoredDocument>>[]> {
    const documents = await sidecar.read([...new Set(requests.flat())])
    return requests.map((keys) => ({ ok: true, value: picked(documents, keys) }))
  }
  const inBulk = createBatcher({ flush, isRefusal, sizeOf: (keys: string[]) => keys.length, ...readLimits })

  async function readWhere(isUnsure: (found: Map<string, StoredDocument>) => boolean, keys: string[]) {
    const found = await inBulk(keys)
    if (isUnsure(found)) await addMissing(sidecar, found, keys)
    return found
  }
  return {
    read: (keys) => readWhere(() => true, keys),
    scan: (keys) => readWhere(({ size }) => size === 0, keys),
  }
}

function picked(documents: Map<string, StoredDocument>, keys: string[]): Map<string, StoredDocument> {
  const found = new Map<string, StoredDocument>()
  for (const key of keys) {
    const document = documents.get(key)
    if (document) found.set(key, document)
  }
  return found
}
