import { LRUCache } from 'lru-cache'
import { isPlatformFailure, OverloadError } from '../sidecar/batcher.ts'
import { HeldError, LostWritesError, type Read, SidecarError, type StoredDocument } from '../sidecar/sidecar.ts'
import { createBeatWatch } from './beats.ts'
import {
  createOwnRegisters,
  keyOfRegister,
  type Mark,
  partsOf,
  type Register,
  type RegisterWriter,
  registerIn,
  registerKeys,
} from './registers.ts'
import { nameIn } from './spaces.ts'

/** An event that is stored, and perhaps not announced. */
export interface Stored {
  event: { readonly Id: string }
  /** Empty for an event that must be announced, whatever is known about it. */
  mark: Mark
}

/** Makes earlier writes of a document fail that the store has not executed yet. Then announces all events of the document that are perhaps not announced. */
type Visit = (key: string) => Promise<void>

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

interface Open {
  running: number
  /** The Ids of events that this process stored, and has not announced. */
  pending?: Set<string>
}

/** The largest number of documents that wait for their announcement after a failure. It bounds the register. */
const maxFailed = 1_000
/** The number of documents that are visited at the same time. */
const visitedTogether = 50
/** The number of announced events that a process remembers for the events of other processes. */
const maxKnown = 10_000

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

export function createAnnouncing(options: Options): Announcing & { writer: RegisterWriter } {
  const { read, replace, flush, report, elapsed = () => performance.now() } = options
  const documents = new Map<string, Open>()
  /** The documents to visit, because a save or an announcement failed, each with its last failure. */
  const failed = new Map<string, unknown>()
  const visits = new Map<string, Visit>()
  /** The newest known epoch of each register. */
  const epochs = new Map<number, number>()
  // With `max`, each cache would allocate its whole memory at once. Tests start hundreds of services in a process.
  const known = new LRUCache<string, true>({ maxSize: maxKnown, sizeCalculation: () => 1 })
  const beats = createBeatWatch(elapsed)

  const isOpen = (key: string): boolean => (documents.get(key)?.pending?.size ?? 0) > 0 || failed.has(key)

  const registers = createOwnRegisters(documents, isOpen, flush, elapsed)

  function isAnnounced(key: string, { event: { Id }, mark }: Stored): boolean {
    if (mark === '') return false
    if (registers.wrote(mark)) return documents.get(key)?.pending?.has(Id) !== true
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
    const others = unknown.filter(({ mark }) => mark !== '' && !registers.wrote(mark))
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
        if (!isPlatformFailure(result.reason) && !(result.reason instanceof UnknownEntityError)) report(result.reason)
      }
      if (results.some((result) => result.status === 'rejected' && isPlatformFailure(result.reason))) break
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
      if (!stored || stored.keys.length === 0 || registers.uses(stored)) {
        beats.forget(register)
        continue
      }
      if (beats.hasEnded(register, stored)) await takeOver(register, stored)
    }
  }

  return {
    writer: registers.writer,
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
      registers.add(mark, key)
      const document = documents.get(key)
      if (!document) return
      document.pending ??= new Set()
      document.pending.add(Id)
    },

    announced(key, events) {
      const document = documents.get(key)
      for (const { Id } of events) if (!document?.pending?.delete(Id)) known.set(Id, true)
    },

    onVisit: (name, visit) => void visits.set(name, visit),

    async sweep() {
      if (visits.size === 0) return
      await visitFailed()
      await registers.tell()
      if (beats.isDue()) await visitOthers()
    },
  }
}

class UnknownEntityError extends Error {}

/** Returns true if the store may execute a write later. Other errors say that nothing was attempted. */
const isUncertain = (error: unknown): boolean =>
  error instanceof SidecarError && !(error instanceof HeldError || error instanceof LostWritesError)
