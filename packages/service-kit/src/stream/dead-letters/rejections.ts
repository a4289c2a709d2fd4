import { isKnownTime, type LogRecord, positionText, whereIs } from '@orderflow/kafka-log'
import { recordIdOf } from '../log/record.ts'
import { type DeadLetter, readRecord } from './dead-letter-record.ts'

/** The records of one topic that a service rejected, by their latest outcomes. */
export type Rejections = ReturnType<typeof createRejections>

/** The allowed difference between the clock of a service and the clock of a broker. */
const maxSkewMs = 60_000

/**
 * A dead letter without a record id names only a position. After a topic was created again, another record may have this position. So the dead letter
 * belongs to a record only if the record is older, or if its time is unknown.
 */
export function createRejections(app: string) {
  const byRecord = new Map<string, string>()
  const byPosition = new Map<string, DeadLetter[]>()
  return {
    /** Adds a record of the dead-letter topic. Records of the same event must be added in their order. */
    add(deadLetter: LogRecord): void {
      const one = readRecord(deadLetter)
      if (one.kind === 'other' || one.kind === 'note' || one.app !== app) return
      const [record, position] = [one.record, positionText(one.position)]
      if (one.kind === 'acceptance' || one.isStored) {
        if (record !== undefined) byRecord.delete(record)
        byPosition.delete(position)
      } else if (record !== undefined) byRecord.set(record, one.reason)
      else byPosition.set(position, [...(byPosition.get(position) ?? []), one])
    },

    /**
     * Returns the reason of the service's dead letter of a record. Returns undefined if the service accepted the record, before or later. A replay publishes a new record, which may succeed although the first record has a dead letter.
     */
    reasonOf(record: LogRecord): string | undefined {
      const id = byRecord.size > 0 ? recordIdOf({ ...record, arrivedAt: record.timestamp }) : undefined
      const reason = id && byRecord.get(id)
      if (reason !== undefined) return reason
      const own = byPosition.get(whereIs(record))
      const at = isKnownTime(record.timestamp) ? record.timestamp : 0
      return own?.findLast(({ time }) => at <= Date.parse(time) + maxSkewMs)?.reason
    },
  }
}

/** Reads the rejections of an app from the records of a dead-letter topic. */
export async function readRejections(app: string, deadLetters: AsyncIterable<LogRecord[]>): Promise<Rejections> {
  const rejections = createRejections(app)
  for await (const records of deadLetters) records.forEach(rejections.add)
  return rejections
}
