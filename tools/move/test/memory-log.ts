import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type LogReader, type LogRecord, positionText, type RecordPosition } from '@orderflow/service-kit/log'
import type { CopiedRecord, TargetLog } from '@orderflow/stack/internals'

interface Fixture {
  signingKey: string
  records: {
    topic: string
    partition: number
    offset: string
    timestamp: number
    key?: string
    value: string
    headers: [string, string][]
  }[]
  /** The ids that services of version 0.1.0 derived, by position. */
  ids: Record<string, { Id: string; CorrelationId: string; TraceId: string }>
  /** The failures that the command `dead-letters` of version 0.1.0 listed. */
  entries: {
    app: string
    origin: string
    attempts: { reason: string; offset: string; replayedAs?: string; edited?: boolean }[]
  }[]
}

/** Records that the code of version 0.1.0 wrote (generate.ts). */
export const fixture: Fixture = JSON.parse(readFileSync(join(import.meta.dirname, 'records.json'), 'utf8'))

const bytes = (text: string) => Buffer.from(text, 'base64')

export function oldLog(): MemoryLog {
  const log = new MemoryLog()
  for (const { offset, timestamp, key, value, headers, ...record } of fixture.records)
    log.records.push({
      ...record,
      offset: BigInt(offset),
      timestamp,
      appendedAt: timestamp,
      key: key === undefined ? undefined : bytes(key),
      value: bytes(value),
      headers: headers.map(([name, text]) => [Buffer.from(name), bytes(text)]),
    })
  return log
}

/** A log in memory whose partitions may begin at any offset and have gaps. Each topic has three partitions. */
export class MemoryLog implements LogReader, TargetLog {
  readonly records: LogRecord[] = []

  async topics(): Promise<string[]> {
    return [...new Set(this.records.map(({ topic }) => topic))]
  }

  async has({ partition }: RecordPosition): Promise<boolean> {
    return partition < 3
  }

  async spans(topic: string) {
    return [0, 1, 2].map((partition) => {
      const own = this.#in(topic, partition)
      return { partition, start: own[0]?.offset ?? 0n, end: (own.at(-1)?.offset ?? -1n) + 1n }
    })
  }

  async *read(topic: string, spans: { partition: number; start: bigint; end: bigint }[]) {
    for (const { partition, start, end } of spans) {
      const own = this.#in(topic, partition).filter(({ offset }) => offset >= start && offset < end)
      for (let at = 0; at < own.length; at += 2) yield own.slice(at, at + 2)
    }
  }

  async at(position: RecordPosition): Promise<LogRecord | undefined> {
    const wanted = positionText(position)
    return this.records.find((record) => positionText({ ...record, offset: String(record.offset) }) === wanted)
  }

  async append(topic: string, partition: number, records: readonly CopiedRecord[]): Promise<void> {
    for (const { key, value, headers, timestamp } of records) {
      const offset = (this.#in(topic, partition).at(-1)?.offset ?? -1n) + 1n
      this.records.push({ topic, partition, offset, timestamp, appendedAt: Number.NaN, key, value, headers })
    }
  }

  async close(): Promise<void> {}

  #in(topic: string, partition: number): LogRecord[] {
    return this.records.filter((record) => record.topic === topic && record.partition === partition)
  }
}
