import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogRecord } from '@orderflow/kafka-log'
import { type Application, readApplication } from '@orderflow/service-kit/application'
import { applicationFile } from '@orderflow/service-kit/setup'
import { createReads, type Reads } from '../../src/index/read/reads.ts'
import type { IndexRecord, Position } from '../../src/index/record.ts'
import { type IndexWriter, openWriter, type WriterOptions } from '../../src/index/writer.ts'
import { examine } from '../../src/ingest/examine.ts'
import { rulesOf } from '../../src/ingest/rules.ts'

export const application = readApplication(applicationFile(import.meta.dirname))

export const trusting = { requireTrusted() {} }

/** Returns an envelope of OrderCreated: a reduced one, or a full one if `over` adds ids. */
export function orderCreated(
  over: Record<string, unknown> = {},
  payload: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    AppId: '5d1c5a0e-0a53-4b7e-a4d5-6c55f1c8e003',
    AppName: 'older-application',
    Version: 1,
    Name: 'OrderCreated',
    CreationDate: '2026-01-01T00:00:00Z',
    Payload: { OrderId: randomUUID(), CustomerName: 'Grace Hopper', CustomerTaxId: 'US-1', Total: 10, ...payload },
    ...over,
  }
}

export function full(
  name: string,
  payload: Record<string, unknown>,
  over: Record<string, unknown> = {},
): Record<string, unknown> {
  const trace = randomUUID()
  const ids = { Headers: {}, Id: randomUUID(), CorrelationId: trace, TraceId: trace }
  return { ...orderCreated(), ...ids, Name: name, Payload: payload, ...over }
}

export interface RecordOptions {
  topic?: string
  partition?: number
  offset?: number
  at?: number
  key?: string
  headers?: Record<string, string>
}

export function logRecord(
  document: unknown,
  {
    topic = 'orderevents',
    partition = 0,
    offset = 0,
    at = Date.UTC(2026, 0, 1),
    key,
    headers = {},
  }: RecordOptions = {},
): LogRecord {
  return {
    topic,
    partition,
    offset: BigInt(offset),
    timestamp: at,
    appendedAt: at,
    key: key === undefined ? undefined : Buffer.from(key),
    value: Buffer.isBuffer(document)
      ? document
      : Buffer.from(typeof document === 'string' ? document : JSON.stringify(document)),
    headers: Object.entries(headers).map(([name, value]) => [Buffer.from(name), Buffer.from(value)]),
  }
}

export function indexRecord(
  document: unknown,
  options: RecordOptions = {},
  trust = trusting,
  other: Partial<Application> = {},
): IndexRecord {
  const record = logRecord(document, options)
  const { kind, ids, guids, body, sharedId } = examine(record, trust, rulesOf({ ...application, ...other }))
  const { topic, partition, offset, timestamp: at, value } = record
  return { topic, partition, offset: Number(offset), at, bytes: value.length, kind, guids, body, sharedId, id: ids.id }
}

export const positionAfter = (records: readonly IndexRecord[]): Position[] => {
  const last = new Map(records.map((record) => [`${record.topic}/${record.partition}`, record]))
  return [...last.values()].map(({ topic, partition, offset }) => ({
    topic,
    partition,
    topicId: 'id',
    next: offset + 1,
  }))
}

export interface TestIndex {
  folder: string
  writer: IndexWriter
  reads: Reads
  /** Writes records and their positions, and updates the reader. */
  add(...records: IndexRecord[]): void
  /** Simulates a restart after kill -9: opens the files in a new index, and does not close the old index. */
  reopen(reactions?: Application['reactions']): void
  close(): void
}

/**
 * @param options `folder` is the parent of the index's own folder
 * @param expected the reactions that the index expects
 */
export function testIndex(options: Partial<WriterOptions> = {}, expected = application.reactions): TestIndex {
  const folder = mkdtempSync(join(options.folder ?? tmpdir(), 'monitor-index-'))
  const all = {
    segmentEvents: 1_000,
    keepEvents: 10_000,
    keepMs: 7 * 86_400_000,
    now: () => Date.UTC(2026, 0, 1),
    startOf: () => undefined,
    rules: rulesOf({ ...application, reactions: expected }).fingerprint,
    ...options,
    folder,
  }
  const index: TestIndex = {
    folder,
    writer: openWriter(all),
    reads: createReads(expected),
    add(...records) {
      index.writer.write(records, positionAfter(records))
      index.reads.follow(index.writer.segments())
    },
    reopen(reactions = expected) {
      index.writer = openWriter({ ...all, rules: rulesOf({ ...application, reactions }).fingerprint })
      index.reads.close()
      index.reads = createReads(reactions)
      index.reads.follow(index.writer.segments())
    },
    close() {
      index.reads.close()
      index.writer.close()
      rmSync(folder, { recursive: true })
    },
  }
  return index
}
