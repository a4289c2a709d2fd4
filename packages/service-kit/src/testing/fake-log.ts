import { type LogReader, type LogRecord, mergeByTime, type RecordPosition } from '@orderflow/kafka-log'

export interface FakeRecord {
  topic: string
  partition?: number
  timestamp?: number
  /** The time when the broker appended the record. The default is `timestamp`. */
  appendedAt?: number
  key?: string | Uint8Array | undefined
  value?: string | Uint8Array
  headers?: Record<string, string> | LogRecord['headers']
}

export class FakeLog implements LogReader {
  readonly records: LogRecord[] = []
  /** The offset of the first record that the retention has not removed, by `topic/partition`. */
  readonly #starts = new Map<string, bigint>()

  append(record: FakeRecord): RecordPosition {
    const { topic, partition = 0, timestamp = this.records.length, key, value = '', headers = {} } = record
    const offset = BigInt(this.#in(topic, partition).length)
    this.records.push({
      ...{ topic, partition, offset, timestamp, appendedAt: record.appendedAt ?? timestamp },
      key: key === undefined ? undefined : Buffer.from(key as string),
      value: Buffer.from(value as string),
      headers: Array.isArray(headers)
        ? headers
        : Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)]),
    })
    return { topic, partition, offset: String(offset) }
  }

  /** Removes the records of a partition before an offset, as the retention does. */
  removeBefore({ topic, partition, offset }: RecordPosition): void {
    this.#starts.set(`${topic}/${partition}`, BigInt(offset))
  }

  async topics(): Promise<string[]> {
    return [...new Set(this.records.map(({ topic }) => topic))]
  }

  async has({ partition }: RecordPosition): Promise<boolean> {
    return partition < 3
  }

  async spans(topic: string, { from, to }: { from?: Date | undefined; to?: Date | undefined } = {}) {
    return [0, 1, 2].map((partition) => {
      const records = this.#in(topic, partition)
      const since = (moment: Date) => {
        const index = records.findIndex(({ timestamp }) => timestamp >= moment.getTime())
        return BigInt(index < 0 ? records.length : index)
      }
      const before = (moment: Date) =>
        BigInt(records.findLastIndex(({ timestamp }) => timestamp < moment.getTime()) + 1)
      return {
        partition,
        start: from ? since(from) : this.#start(topic, partition),
        end: to ? before(to) : BigInt(records.length),
      }
    })
  }

  async *read(topic: string, spans: { partition: number; start: bigint; end: bigint }[]) {
    const cursors = spans.map((span) => ({ ...span }))
    yield* mergeByTime(cursors, async (empty) =>
      empty.map((cursor) => {
        const next = cursor.start + 2n
        const stop = next < cursor.end ? next : cursor.end
        const records = this.#in(topic, cursor.partition).slice(Number(cursor.start), Number(stop))
        cursor.start = next
        return records
      }),
    )
  }

  async at({ topic, partition, offset }: RecordPosition): Promise<LogRecord | undefined> {
    return BigInt(offset) < this.#start(topic, partition) ? undefined : this.#in(topic, partition)[Number(offset)]
  }

  async close(): Promise<void> {}

  #start(topic: string, partition: number): bigint {
    return this.#starts.get(`${topic}/${partition}`) ?? 0n
  }

  #in(topic: string, partition: number): LogRecord[] {
    return this.records.filter((record) => record.topic === topic && record.partition === partition)
  }
}
