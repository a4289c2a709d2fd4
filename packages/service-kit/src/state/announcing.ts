import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { OverloadError } from '../sidecar/batcher.ts'
import {
  HeldError,
  LostWritesError,
  type Read,
  SidecarError,
  type StoredDocument,
  type Write,
} from '../sidecar/sidecar.ts'

/**
 * A document of one process with the keys of documents whose events are perhaps not announced. It is written before these documents, or together
 * with them. If its process ends, another process announces the events and takes the register. A process uses several registers in turn. So the events
 * of a register are mostly announced before it is written again, and it stays small.
 */
interface Register {
  /** Grows when another process takes the register. The events of earlier epochs are announced. */
  epoch: number
  /** A random id of the process and epoch; empty if the register is free. */
  by: string
  /** Changes at least every few seconds while the register has keys, so other processes see that its process is alive. */
  beat: number
  keys: string[]
}

/** The number of registers. More processes than registers cannot change entities at the same time. */
const registerCount = 64
/** The number of registers that a process uses in turn. */
const usedInTurn = 4
const keyOfRegister = (register: number): string => `announcing/${register}`
const registerKeys = Array.from({ length: registerCount }, (_, register) => keyOfRegister(register))
const registerIn = (found: ReadonlyMap<string, StoredDocument>, register: number) =>
  found.get(keyOfRegister(register))?.value as Register | undefined

/** The register in which an event was stored, as `register:epoch:by`. */
export type Mark = string
const markOf = (register: number, { epoch, by }: Pick<Register, 'epoch' | 'by'>): Mark => `${register}:${epoch}:${by}`
const partsOf = (mark: Mark): [register: number, epoch: number] => mark.split(':', 2).map(Number) as [number, number]

/** An event that is stored, and perhaps not announced. */
export interface Stored {
  event: { readonly Id: string }
  /** Empty for an event that must be announced, whatever is known about it. */
  mark: Mark
}

/** Makes earlier writes of a document fail that the store has not executed yet. Then announces all events of the document that are perhaps not announced. */
type Visit = (key: string) => Promise<void>

/** The registers of this process, as part of a batch of writes. */
export interface RegisterWriter {
  /** @param isSequential true if the next batch begins after this one has ended. Only its register is then read. */
  watched(isSequential: boolean): { keys: string[]; check(read: ReadonlyMap<string, StoredDocument>): void }
  open(read: Read): Promise<void>
  draft(): {
    /** Returns the mark of an event that the batch stores. */
    mark(): Mark
    writes(): Write[]
    stored(etag?: string): void
  }
  /**
   * Reads the register of the failed write again before its next write.
   * @param isConflict true if the store refused the failed write. Otherwise the process leaves the register, because the store may execute the write later.
   */
  leave(isConflict: boolean): void
}

/** The announcing of events by a process. `key` is always the full key of a document, with the prefix of the tenant. */
export interface Announcing {
  /**
   * Begins a change of a document and the announcement of its events. Returns the function that ends it, with the error of a failure. After a failure, the
   * document stays in the register.
   * @param isLimited false if the events need not be stored
   * @throws {OverloadError} if too many documents wait for their announcement
   */
  begin(key: string, isLimited: boolean): (error?: unknown) => void
  /** Notes that an event of the document will be stored under the mark. Call it only after `begin`. */
  note(key: string, event: Stored): void
  /** Returns true if the event is certainly announced, as far as this process knows. */
  isAnnounced(key: string, event: Stored): boolean
  /** Returns the events that are perhaps not announced. It reads the registers of other processes. */
  open<E extends Stored>(key: string, events: readonly E[]): Promise<E[]>
  /** Notes that events were announced. */
  announced(key: string, events: readonly Stored['event'][]): void
  /** @param name the first part of the documents' keys, without the prefix of the tenant */
  onVisit(name: string, visit: Visit): void
  /**
   * Announces what failed, and what processes left that have ended. Then it removes announced documents from the stored register. The service calls it every
   * second.
   */
  sweep(): Promise<void>
}

/** Announces only new events. Dry runs and rebuilds use it, because they change nothing that others see. */
export const noAnnouncing: Announcing = {
  begin: () => () => {},
  note() {},
  isAnnounced: (_key, { mark }) => mark !== '',
  open: async (_key, events) => events.filter(({ mark }) => mark === ''),
  announced() {},
  onVisit() {},
  async sweep() {},
}

/** A register of this process. `keys` may have documents whose events are all announced. */
type OwnRegister = Omit<Register, 'keys'> & {
  register: number
  etag: string | undefined
  /** The time of its last write; undefined if this process has not written it. */
  storedAt: number | undefined
  keys: Set<string>
}

interface Open {
  running: number
  /** The Ids of events that this process stored, and has not announced. */
  pending?: Set<string>
}

/** The largest number of documents that wait for their announcement after a failure. It bounds the register. */
const maxFailed = 1_000
/** The number of documents that are visited at the same time. */
const visitedTogether = 50
/** The time after which a register without a new beat belongs to a process that has ended. */
const lateMs = 20_000
const beatMs = 2_000
/** The number of announced events that a process remembers for the events of other processes. */
const maxKnown = 10_000
/** The interval at which a process looks for registers of processes that have ended. */
const othersMs = 5_000

interface Options {
  /** Returns documents by key, but may leave out existing documents. */
  read: Read
  /** Writes a document of this module if it is unchanged. `decide` returns the new value, or undefined for no write. */
  replace(key: string, decide: (stored: Register | undefined) => Register | undefined): Promise<void>
  /** Runs a batch without changes, which writes the register. @param key the key of the register */
  flush(key: string): Promise<void>
  /** Receives a bug. */
  report(error: unknown): void
  elapsed?: () => number
}

export function createAnnouncing({
  read,
  replace,
  flush,
  report,
  elapsed = () => performance.now(),
}: Options): Announcing & { writer: RegisterWriter } {
  const documents = new Map<string, Open>()
  /** The documents to visit, because a save or an announcement failed, each with its last failure. */
  const failed = new Map<string, unknown>()
  const visits = new Map<string, Visit>()
  /** The registers of this process by the mark of their events. Registers that the process has left stay. */
  const byMark = new Map<Mark, OwnRegister>()
  /** The newest known epoch of each register. */
  const epochs = new Map<number, number>()
  // With `max`, each cache would allocate its whole memory at once. Tests start hundreds of services in a process.
  const known = new LRUCache<string, true>({ maxSize: maxKnown, sizeCalculation: () => 1 })
  const seen = new Map<number, Pick<Register, 'by' | 'beat'> & { since: number }>()

  /** The registers of this process, with the one for the next batch first. */
  let owned: OwnRegister[] = []
  const leave = (own: OwnRegister) => {
    owned = owned.filter((one) => one !== own)
  }
  /** The register that the next batch writes, although it stores no event there. */
  let due: OwnRegister | undefined
  const nextRegister = () => (due && owned.includes(due) ? due : owned[0])
  /** The register of the batch that is being written. */
  let current: OwnRegister | undefined

  /** Takes the etag of an own register from a read, or leaves the register if another process has taken it. */
  function check(own: OwnRegister, found: ReadonlyMap<string, StoredDocument>): void {
    const stored = found.get(keyOfRegister(own.register))
    if ((stored?.value as Register | undefined)?.by === own.by) own.etag = stored?.etag
    else leave(own)
  }

  const isOpen = (key: string): boolean => (documents.get(key)?.pending?.size ?? 0) > 0 || failed.has(key)

  /** Takes registers with empty lists: only one if most registers are in use. */
  async function take(readRegisters: Read): Promise<void> {
    const found = await readRegisters(registerKeys)
    const free = [...registerKeys.keys()].filter((register) => !registerIn(found, register)?.keys.length)
    const keys = [...documents.keys()].filter(isOpen)
    for (let left = free.length > registerCount / 2 ? usedInTurn : 1; left > 0 && free.length > 0; left -= 1) {
      const [register = 0] = free.splice(Math.floor(Math.random() * free.length), 1)
      const epoch = (registerIn(found, register)?.epoch ?? 0) + 1
      const [by, etag] = [randomUUID().slice(0, 8), found.get(keyOfRegister(register))?.etag]
      owned.push({ register, epoch, by, beat: 0, etag, storedAt: undefined, keys: new Set(keys) })
    }
  }

  const writer: RegisterWriter = {
    watched(isSequential) {
      const next = isSequential ? owned.filter((own) => own === nextRegister()) : owned
      const unsure = next.filter(({ storedAt, etag }) => storedAt !== undefined && etag === undefined)
      const beats = unsure.map(({ beat }) => beat)
      return {
        keys: unsure.map(({ register }) => keyOfRegister(register)),
        check(found) {
          // Another batch may have written the register since this read.
          for (const [index, own] of unsure.entries()) if (own.beat === beats[index]) check(own, found)
        },
      }
    },

    async open(readRegisters) {
      if (owned.length === 0) await take(readRegisters)
      current = nextRegister()
      if (current?.storedAt !== undefined && current.etag === undefined) {
        check(current, await readRegisters([keyOfRegister(current.register)]))
        if (!owned.includes(current)) return await writer.open(readRegisters)
      }
      owned = [...owned.filter((own) => own !== current), ...(current ? [current] : [])]
    },

    draft() {
      const own = current
      if (!own) return { mark: noFreeRegister, writes: () => [], stored() {} }
      const { register, epoch, by, etag } = own
      const [beat, mark] = [own.beat + 1, markOf(register, own)]
      let [isUsed, isWritten] = [false, false]
      return {
        mark() {
          isUsed = true
          byMark.set(mark, own)
          return mark
        },
        writes() {
          // Its guard also proves that no other process has taken the register.
          isWritten = isUsed || due === own
          if (!isWritten) return []
          own.keys = new Set([...own.keys].filter(isOpen))
          const value = JSON.stringify({ epoch, by, beat, keys: [...own.keys] } satisfies Register)
          return [{ key: keyOfRegister(register), value, guard: etag === undefined ? 'absent' : { etag } }]
        },
        stored(newEtag) {
          if (isWritten) Object.assign(own, { beat, etag: newEtag, storedAt: elapsed() })
          if (due === own) due = undefined
        },
      }
    },

    leave(isConflict) {
      if (isConflict && current?.storedAt !== undefined) current.etag = undefined
      else if (current) leave(current)
    },
  }

  function isAnnounced(key: string, { event: { Id }, mark }: Stored): boolean {
    if (mark === '') return false
    if (byMark.has(mark)) return documents.get(key)?.pending?.has(Id) !== true
    if (known.has(Id)) return true
    const [register, epoch] = partsOf(mark)
    return epoch < (epochs.get(register) ?? 0)
  }

  async function readRegisters(keys: string[]): Promise<Map<string, StoredDocument>> {
    const found = await read(keys)
    for (const [key, { value }] of found) epochs.set(registerKeys.indexOf(key), (value as Register).epoch)
    return found
  }

  async function open<E extends Stored>(key: string, events: readonly E[]): Promise<E[]> {
    const unknown = events.filter((event) => !isAnnounced(key, event))
    const others = unknown.filter(({ mark }) => mark !== '' && !byMark.has(mark))
    if (others.length === 0) return unknown
    const found = await readRegisters([...new Set(others.map(({ mark }) => keyOfRegister(partsOf(mark)[0])))])
    for (const { event, mark } of others) {
      const [register, epoch] = partsOf(mark)
      const stored = registerIn(found, register)
      if (stored && (stored.epoch > epoch || !stored.keys.includes(key))) known.set(event.Id, true)
    }
    return unknown.filter((event) => !isAnnounced(key, event))
  }

  async function visitOne(key: string): Promise<void> {
    const visit = visits.get(nameIn(key))
    // A replica of another version may have the entity.
    if (!visit) throw new UnknownEntityError()
    await visit(key)
  }

  /** Visits documents, a few at the same time. Returns the keys of those that failed, and ends early if the platform fails. */
  async function visitAll(keys: readonly string[]): Promise<string[]> {
    const open = new Set(keys)
    for (let from = 0; from < keys.length; from += visitedTogether) {
      const some = keys.slice(from, from + visitedTogether)
      const results = await Promise.allSettled(some.map(visitOne))
      for (const [index, result] of results.entries()) {
        const key = some[index] as string
        open.delete(key)
        if (result.status === 'fulfilled') continue
        // The documents that were not visited come first next time.
        open.add(key)
        if (!isOutage(result.reason) && !(result.reason instanceof UnknownEntityError)) report(result.reason)
      }
      if (results.some((result) => result.status === 'rejected' && isOutage(result.reason))) break
    }
    return [...open]
  }

  async function visitFailed(): Promise<void> {
    const before = [...failed].filter(([key]) => documents.get(key)?.running === 0)
    const still = new Set(await visitAll(before.map(([key]) => key)))
    for (const [key, failure] of before) {
      // Meanwhile, a later change of the document may have failed.
      if (still.has(key) || failed.get(key) !== failure) continue
      failed.delete(key)
      if (documents.get(key)?.running === 0) documents.delete(key)
    }
    for (const key of still) {
      const failure = failed.get(key)
      failed.delete(key)
      failed.set(key, failure)
    }
  }

  /** Announces the events in a register whose process has ended, and empties the register. */
  async function takeOver(register: number, { epoch, by, beat, keys }: Register): Promise<void> {
    const still = await visitAll(keys)
    await replace(keyOfRegister(register), (stored) => {
      if (stored?.by !== by || stored.beat !== beat) return undefined
      return still.length > 0
        ? { epoch, by, beat: beat + 1, keys: still }
        : { epoch: epoch + 1, by: '', beat: 0, keys: [] }
    })
  }

  async function visitOthers(): Promise<void> {
    const found = await readRegisters(registerKeys)
    for (const register of registerKeys.keys()) {
      const stored = registerIn(found, register)
      if (!stored || stored.keys.length === 0 || owned.some((own) => own.by === stored.by)) {
        seen.delete(register)
        continue
      }
      const { by, beat } = stored
      const before = seen.get(register)
      if (before?.by !== by || before.beat !== beat) seen.set(register, { by, beat, since: elapsed() })
      else if (elapsed() - before.since >= lateMs) await takeOver(register, stored)
    }
  }

  /** Writes the registers whose beat is due, and all registers with keys if no document changes. Otherwise, batches write them. */
  async function tellOpen(): Promise<void> {
    for (const own of owned) {
      if (own.storedAt === undefined || own.keys.size === 0) continue
      if (documents.size > 0 && elapsed() - own.storedAt < beatMs) continue
      due = own
      await flush(keyOfRegister(own.register))
    }
  }

  let othersSeenAt = Number.NEGATIVE_INFINITY

  return {
    writer,
    isAnnounced,
    open,

    begin(key, isLimited) {
      if (isLimited && failed.size >= maxFailed)
        throw new OverloadError(
          'too many changes wait until the store and Kafka answer; nothing more is stored until then',
        )
      const document: Open = documents.get(key) ?? { running: 0 }
      documents.set(key, document)
      document.running += 1
      return (error) => {
        if (error && (isUncertain(error) || isUncertain((error as Error).cause) || document.pending?.size))
          failed.set(key, error)
        document.running -= 1
        if (document.running === 0 && !failed.has(key)) documents.delete(key)
      }
    },

    note(key, { event: { Id }, mark }) {
      byMark.get(mark)?.keys.add(key)
      const document = documents.get(key)
      if (!document) return
      document.pending ??= new Set()
      document.pending.add(Id)
    },

    announced(key, events) {
      const document = documents.get(key)
      for (const { Id } of events) if (!document?.pending?.delete(Id)) known.set(Id, true)
    },

    onVisit(name, visit) {
      visits.set(name, visit)
    },

    async sweep() {
      if (visits.size === 0) return
      await visitFailed()
      await tellOpen()
      if (elapsed() - othersSeenAt < othersMs) return
      othersSeenAt = elapsed()
      await visitOthers()
    },
  }
}

class UnknownEntityError extends Error {}

function noFreeRegister(): never {
  throw new SidecarError('write state', `other replicas use all ${registerCount} registers of announcements`)
}

/** Returns true if the store may execute a write later. Other errors say that nothing was attempted. */
const isUncertain = (error: unknown): boolean =>
  error instanceof SidecarError && !(error instanceof HeldError || error instanceof LostWritesError)

const isOutage = (error: unknown): boolean => error instanceof SidecarError || error instanceof OverloadError

/** Returns the name of the entity in a document's key, which may begin with `tenant/<tenant>/`. */
const nameIn = (key: string): string => key.replace(/^tenant\/[^/]*\//, '').split('/', 1)[0] as string
