import { positionText, type RecordPosition } from '@orderflow/service-kit/log'

/** A part of a partition in which every offset has a record. */
interface Run {
  start: bigint
  /** The offset after the last record. */
  end: bigint
  /** The number of records before `start`. */
  before: bigint
}

/**
 * Maps offsets of the old log to offsets of the new log. The new offset of a record is the number of records before it in its partition. The old log
 * may also have offsets without a record, for example of deleted records.
 */
export class Offsets {
  readonly #runs = new Map<string, Run[]>()

  /** Adds a record. The records of a partition are added in their order. */
  add({ topic, partition, offset }: { topic: string; partition: number; offset: bigint }): void {
    const key = `${topic}/${partition}`
    const runs = this.#runs.get(key) ?? []
    this.#runs.set(key, runs)
    const last = runs.at(-1)
    if (last?.end === offset) last.end += 1n
    else runs.push({ start: offset, end: offset + 1n, before: last ? last.before + last.end - last.start : 0n })
  }

  /** Returns the number of records before an old offset. */
  before({ topic, partition, offset }: { topic: string; partition: number; offset: bigint }): bigint {
    const run = this.#runs.get(`${topic}/${partition}`)?.findLast(({ start }) => start <= offset)
    if (!run) return 0n
    return run.before + (offset < run.end ? offset : run.end) - run.start
  }

  /** Returns the new position of a record. If the old log has deleted the record, returns its old position. */
  moved(position: RecordPosition): RecordPosition {
    return this.has(position) ? { ...position, offset: String(this.before(numbersOf(position))) } : position
  }

  has(position: RecordPosition): boolean {
    const { topic, partition, offset } = numbersOf(position)
    const runs = this.#runs.get(`${topic}/${partition}`) ?? []
    return runs.some(({ start, end }) => start <= offset && offset < end)
  }

  text(position: RecordPosition): string {
    return positionText(this.moved(position))
  }
}

const numbersOf = ({ topic, partition, offset }: RecordPosition) => ({ topic, partition, offset: BigInt(offset) })
