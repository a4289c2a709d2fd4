import { randomUUID } from 'node:crypto'
import type { RecordPosition } from '@orderflow/kafka-log'
import { deadLetterOf, lastResortDeadLetter, minimalDeadLetter } from '../../../src/stream/dead-letters/dead-letter.ts'
import { type BulkEntry, readDelivery } from '../../../src/stream/log/record.ts'
import type { FakeLog } from '../../../src/testing/fake-log.ts'

export const event = {
  AppId: randomUUID(),
  AppName: 'older-application',
  Version: 1,
  Name: 'OrderCreated',
  CreationDate: '2026-11-21T10:00:00Z',
  Payload: { OrderId: randomUUID(), CustomerName: 'Ada Lovelace', CustomerTaxId: 'SECRET-TAX-ID', Total: 1 },
}
export const bytesOf = (document: unknown) => Buffer.from(JSON.stringify(document))

export interface Failed {
  topic?: string
  partition?: number
  value?: Buffer
  /** True if the dead letter lacks its event, because the topic refused the complete dead letter. */
  isCut?: boolean
  detail?: string
  /** The record's time of arrival. By default, it depends on the offset, so that records have different times. */
  arrivedAt?: number
  key?: string
  /** The header with the position of the event's first record. */
  replayedFrom?: string
}

/** Writes the dead letter of a service for the record at this offset. Returns the dead letter's position. */
export function fail(
  log: FakeLog,
  app: string,
  offset: number,
  reason = 'invalid-payload',
  {
    topic = 'orderevents',
    partition = 0,
    value = Buffer.from('{'),
    key = 'k',
    replayedFrom,
    isCut = false,
    detail = 'd',
    arrivedAt = offset,
  }: Failed = {},
): RecordPosition {
  const metadata: BulkEntry['metadata'] = {
    __partition: String(partition),
    __offset: String(offset),
    __key: key,
    __timestamp: String(arrivedAt),
  }
  if (replayedFrom) metadata['replayed-from'] = encodeURIComponent(replayedFrom)
  const delivery = readDelivery({ entryId: '', value, metadata }, topic)
  const make = isCut ? minimalDeadLetter : deadLetterOf
  return log.append(make(delivery, { code: reason, detail }, app, new Date()))
}

/** Writes the dead letter of an unreadable record. It has no record id. */
export function failUnread(log: FakeLog, app: string, offset: number): RecordPosition {
  const position = { topic: 'orderevents', partition: 0, offset: String(offset) }
  return log.append(lastResortDeadLetter(position, 'internal-error', app, new Date()))
}

/** Writes the note of a replay to the dead-letter topic. By default, the id of the failed record is unknown. */
export function note(log: FakeLog, of: string, as: string, record?: string): void {
  const ofRecord = record && { 'replay-of-record': record }
  log.append({ topic: 'orderevents.dead', headers: { 'replay-of': of, 'replayed-as': as, ...ofRecord } })
}
