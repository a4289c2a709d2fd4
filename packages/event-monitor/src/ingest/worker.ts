import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { type Extent, type LogRecord, LogTail, openAdmin, type Read, type TailPosition } from '@orderflow/kafka-log'
import { readTrust } from '@orderflow/service-kit/log'
import type { Unreadable } from '../api/events.ts'
import type { Gap, IndexRecord, Position } from '../index/record.ts'
import { storageFault } from '../index/sqlite.ts'
import { type IndexWriter, openWriter } from '../index/writer.ts'
import { examine } from './examine.ts'
import { type FromIngest, type IngestData, liveBatch, type ToIngest, type Watch } from './messages.ts'
import { rulesOf } from './rules.ts'

/**
 * Number of records in a transaction. Larger transactions are not cheaper, and their objects live longer. With 2,000
 * records, garbage collection takes a third of the thread's time.
 */
const chunkLength = 320
/**
 * The pause between fetches while few records arrive. A transaction and a fetch cost the same for one record and for a
 * hundred. With this pause, live views still get ten batches per second.
 */
const pauseMs = 100
const fewRecords = 500
const retryMs = 1_000
const stateMs = 500

const port = parentPort as MessagePort
const data = workerData as IngestData
const report = (message: FromIngest) => port.postMessage(message)

const trust = readTrust(new URL(data.root), data.trust)
const rules = rulesOf(data.application)
let writer: IndexWriter | undefined
let log: LogTail | undefined
let watch: Watch = { isLive: false, hashes: new Set() }
let isStopping = false
let error: string | null = 'starting'
let lag: number | null = null
let unreadable: Unreadable[] = []
let indexed = 0
let reported = { at: performance.now(), indexed: 0 }

port.on('message', (message: ToIngest) => {
  if (message.type === 'stop') isStopping = true
  else watch = { isLive: message.isLive, hashes: new Set(message.hashes) }
})
const stateTimer = setInterval(reportState, stateMs)

while (!isStopping) await run()
clearInterval(stateTimer)
writer?.close()
report({ type: 'stopped' })
port.close()

/** Indexes the log until an error or a stop. The next run continues at the last written position. */
async function run(): Promise<void> {
  try {
    writer ??= openWriter({
      ...{ ...data, rules: rules.fingerprint, now: Date.now },
      startOf(topic, partition) {
        const start = log?.startOf(topic, partition)
        return start && { topicId: start.topicId, next: Number(start.next) }
      },
    })
    const tail = openTail(writer.positions())
    log = tail
    let coming = tail.read()
    while (!isStopping) {
      const read = await coming
      error = null
      // Fetches the next records while this batch is indexed.
      coming = tail.readableLag < fewRecords ? delay(pauseMs).then(() => tail.read()) : tail.read()
      coming.catch(() => {})
      await setImmediate()
      await index(read, writer)
      lag = tail.lag
      unreadable = tail.unreadable.map(({ topic, partition, why }) => ({ topic, partition, why }))
    }
  } catch (failure) {
    error = storageFault(failure, data.folder) ?? (failure as Error).message
    lag = null
    unreadable = []
    await delay(retryMs)
  } finally {
    await log?.close()
    log = undefined
  }
}

/** @param stored empty for a new index, which begins with the newest events and with all dead letters */
function openTail(stored: ReadonlyMap<string, Position>): LogTail {
  const positions = [...stored].map(([key, position]) => [key, { ...position, next: BigInt(position.next) }] as const)
  const open = () => openAdmin(data.kafka, { clientId: 'event-monitor', requestTimeout: 5_000 })
  return new LogTail(open, { stored: new Map(positions), ...(stored.size === 0 && { begin: newestOf }) })
}

/** Returns the offset at which the share of a partition in the newest events of all topics begins. */
function newestOf({ topic, start, end }: Extent, all: readonly Extent[]): bigint {
  const total = all.reduce((sum, each) => sum + (isDead(each) ? 0 : Number(each.end - each.start)), 0)
  if (isDead({ topic }) || total <= data.keepEvents) return start
  return end - BigInt(Math.floor((Number(end - start) * data.keepEvents) / total))
}

function isDead({ topic }: { topic: string }): boolean {
  return topic.endsWith('.dead')
}

function numbered({ topic, partition, topicId, next }: TailPosition): Position {
  return { topic, partition, topicId, next: Number(next) }
}

async function index(read: Read, writer: IndexWriter): Promise<void> {
  const { records } = read
  const positions = read.positions.map(numbered)
  const gaps = read.gaps.map((gap): Gap => ({ ...gap, from: Number(gap.from), to: Number(gap.to), at: Date.now() }))
  const after = new Map(positions.map((position) => [`${position.topic}/${position.partition}`, position]))
  if (gaps.length > 0)
    writer.write(
      [],
      positions.map((position) => beginOf(position, records)),
      gaps,
    )
  for (let at = 0; at < records.length; at += chunkLength) {
    const chunk = records.slice(at, at + chunkLength)
    const isLast = at + chunkLength >= records.length
    const examined = chunk.map(indexRecordOf)
    const reached = isLast ? positions : reachedBy(chunk, after)
    const { kinds } = writer.write(examined, reached)
    indexed += chunk.length
    report(liveBatch(sorted(examined), kinds, watch))
    if (!isLast) await setImmediate()
  }
  if (records.length === 0 && positions.length > 0) writer.write([], positions)
}

/** Returns records in the order in which the writer returns their kinds. */
function sorted(records: IndexRecord[]): IndexRecord[] {
  return records.some(isDead) ? [...records.filter((one) => !isDead(one)), ...records.filter(isDead)] : records
}

function indexRecordOf(record: LogRecord): IndexRecord {
  const { topic, partition, offset, timestamp: at, value } = record
  const { kind, ids, guids, body, sharedId } = examine(record, trust, rules)
  return { topic, partition, offset: Number(offset), at, bytes: value.length, kind, guids, body, sharedId, id: ids.id }
}

function beginOf(position: Position, records: readonly LogRecord[]): Position {
  const first = records.find(({ topic, partition }) => topic === position.topic && partition === position.partition)
  return first ? { ...position, next: Number(first.offset) } : position
}

function reachedBy(chunk: readonly LogRecord[], after: ReadonlyMap<string, Position>): Position[] {
  const reached = new Map<string, Position>()
  for (const { topic, partition, offset } of chunk) {
    const key = `${topic}/${partition}`
    reached.set(key, { ...(after.get(key) as Position), next: Number(offset) + 1 })
  }
  return [...reached.values()]
}

function reportState(): void {
  const now = performance.now()
  const perSecond = Math.round(((indexed - reported.indexed) * 1_000) / (now - reported.at))
  reported = { at: now, indexed }
  const segments = writer?.segments() ?? []
  report({ type: 'state', isConnected: error === null, error, lag, unreadable, perSecond, segments })
}
