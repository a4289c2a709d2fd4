import { randomUUID } from 'node:crypto'
import { type Read, SidecarError, type StoredDocument } from '../sidecar/sidecar.ts'
import type { BatchWriter, Draft } from './batch-writer.ts'

/**
 * A document of one process with the keys of documents whose events are perhaps not announced. It is written before these documents, or together
 * with them. If its process ends, another process announces the events and takes the register. A process uses several registers in turn. So the events
 * of a register are mostly announced before it is written again, and it stays small.
 */
export interface Register {
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
export const keyOfRegister = (register: number): string => `announcing/${register}`
export const registerKeys = Array.from({ length: registerCount }, (_, register) => keyOfRegister(register))
export const registerIn = (found: ReadonlyMap<string, StoredDocument>, register: number) =>
  found.get(keyOfRegister(register))?.value as Register | undefined

/** The register in which an event was stored, as `register:epoch:by`. */
export type Mark = string
const markOf = (register: number, { epoch, by }: Pick<Register, 'epoch' | 'by'>): Mark => `${register}:${epoch}:${by}`
export const partsOf = (mark: Mark): [register: number, epoch: number] =>
  mark.split(':', 2).map(Number) as [number, number]

/** The registers of this process, as part of a batch of writes. `mark` returns the mark of an event that the batch stores. */
export type RegisterWriter = BatchWriter<Draft & { mark(): Mark }>

/** A register of this process. `keys` may have documents whose events are all announced. */
type OwnRegister = Omit<Register, 'keys'> & {
  register: number
  etag: string | undefined
  /** The time of its last write; undefined if this process has not written it. */
  storedAt: number | undefined
  keys: Set<string>
}

const beatMs = 2_000

/**
 * Creates the registers of a process.
 * @param documents the documents that this process changes, or must visit, by key
 * @param isOpen returns true for a document with events that are perhaps not announced
 * @param flush runs a batch without changes, which writes the register with this key
 */
export function createOwnRegisters(
  documents: ReadonlyMap<string, unknown>,
  isOpen: (key: string) => boolean,
  flush: (key: string) => Promise<void>,
  elapsed: () => number,
) {
  /** The registers of this process by the mark of their events. Registers that the process has left stay. */
  const byMark = new Map<Mark, OwnRegister>()
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

    // After a conflict, the register is read again before its next write.
    leave(isConflict) {
      if (isConflict && current?.storedAt !== undefined) current.etag = undefined
      else if (current) leave(current)
    },
  }

  return {
    writer,
    /** Returns true if this process wrote the register of the mark. It may have left the register since. */
    wrote: (mark: Mark) => byMark.has(mark),
    /** Adds the key of a document to the register of the mark. */
    add: (mark: Mark, key: string) => byMark.get(mark)?.keys.add(key),
    /** Returns true for a register that this process uses. */
    uses: ({ by }: Register) => owned.some((own) => own.by === by),
    /** Writes the registers whose beat is due, and all registers with keys if no document changes. Otherwise, batches write them. */
    async tell(): Promise<void> {
      for (const own of owned) {
        if (own.storedAt === undefined || own.keys.size === 0) continue
        if (documents.size > 0 && elapsed() - own.storedAt < beatMs) continue
        due = own
        await flush(keyOfRegister(own.register))
      }
    },
  }
}

function noFreeRegister(): never {
  throw new SidecarError('write state', `other replicas use all ${registerCount} registers of announcements`)
}
