import { EventEmitter } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { type ResourceLimits, Worker } from 'node:worker_threads'
import { isoTime } from '@orderflow/kafka-log'
import { unavailable } from '@orderflow/service-kit'
import type { Completeness, Gap, Unreadable } from '../api/events.ts'
import type { FromIngest, IngestBatch, IngestData, IngestState, ToIngest } from '../ingest/messages.ts'
import type { Reads } from './read/reads.ts'
import type { Question, Reply } from './read/worker.ts'

const stopMs = 5_000

export type Ask = <Method extends keyof Reads>(
  method: Method,
  ...args: Parameters<Reads[Method]>
) => Promise<ReturnType<Reads[Method]>>

export type MonitorIndex = ReturnType<typeof openIndex>

const noState: IngestState = {
  type: 'state',
  isConnected: false,
  error: 'starting',
  lag: null,
  unreadable: [],
  perSecond: 0,
  segments: [],
}

export interface IndexEvents {
  /** Receives an unexpected error, which is a bug. */
  onFailure(error: Error): void
  /** Receives the reason why the log cannot be read; null when it is read again. */
  onTrouble(reason: string | null): void
  /** Receives a partition or topic that became unreadable, or readable again. */
  onPartition(partition: Unreadable, isRead: boolean): void
}

const hasPartition = (list: readonly Unreadable[], { topic, partition }: Unreadable) =>
  list.some((one) => one.topic === topic && one.partition === partition)

/** One thread reads the log and writes the index. Another thread answers queries. */
export function openIndex(data: IngestData, { onFailure, onTrouble, onPartition }: IndexEvents) {
  let threads: { ingest: Worker; reader: Worker; stopped: Promise<void> } | undefined
  const batches = new EventEmitter<{ batch: [IngestBatch] }>().setMaxListeners(0)
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  let requestCount = 0
  let state = noState
  let gaps: Gap[] = []
  let unreadPartitions: readonly Unreadable[] = []
  let isClosing = false

  function open(): NonNullable<typeof threads> {
    if (threads) return threads
    throw unavailable('The index is not open yet.')
  }

  /** @throws {HttpProblem} 503 before `start`, or if the disk is full */
  const ask: Ask = async (method, ...args) => {
    const { reader } = open()
    requestCount += 1
    const id = requestCount
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject })
      reader.postMessage({ id, method, args } satisfies Question)
    })
  }

  function settle(reply: Reply): void {
    const asker = waiting.get(reply.id)
    waiting.delete(reply.id)
    if (reply.ok) asker?.resolve(reply.value as never)
    else
      asker?.reject(reply.isStorage ? unavailable(`The index cannot be used: ${reply.error}.`) : new Error(reply.error))
  }

  /** Reports single partitions and topics. If the whole log is unreadable, `onTrouble` reports this instead. */
  function reportPartitions(unreadable: readonly Unreadable[]): void {
    const before = unreadPartitions
    unreadPartitions = unreadable
    for (const one of unreadable) if (!hasPartition(before, one)) onPartition(one, false)
    for (const one of before) if (!hasPartition(unreadable, one)) onPartition(one, true)
  }

  async function follow(now: IngestState): Promise<void> {
    if (now.error !== state.error) onTrouble(now.error)
    state = now
    if (now.error === null) reportPartitions(now.unreadable)
    await ask('follow', now.segments)
    gaps = await ask('gaps')
  }

  /**
   * @param program a name in `imports` of package.json
   * @param initialHeapMb heap size at which V8 first collects old objects. A larger heap takes longer to collect.
   *   `resourceLimits` lacks this setting, but a thread reads the flag at its start
   */
  function startThread(
    program: string,
    { workerData, initialHeapMb, ...limits }: { workerData: IngestData; initialHeapMb: number } & ResourceLimits,
  ): Promise<Worker> {
    setFlagsFromString(`--initial-heap-size=${initialHeapMb}`)
    const resourceLimits = { maxOldGenerationSizeMb: 128, ...limits }
    const worker = new Worker(new URL(import.meta.resolve(program)), { workerData, resourceLimits })
    worker.on('error', (error) => !isClosing && onFailure(error as Error))
    return new Promise((resolve) => {
      worker.once('online', () => resolve(worker))
    })
  }

  async function start(): Promise<void> {
    const reader = await startThread('#read', {
      workerData: data,
      initialHeapMb: 24,
      maxYoungGenerationSizeMb: 6,
    })
    const ingest = await startThread('#ingest', {
      workerData: data,
      initialHeapMb: 64,
      maxYoungGenerationSizeMb: 12,
    })
    if (isClosing) return void (await Promise.all([ingest.terminate(), reader.terminate()]))
    reader.on('message', settle)
    const stopped = new Promise<void>((resolve) => {
      ingest.on('message', (message: FromIngest) => {
        if (message.type === 'batch') batches.emit('batch', message)
        else if (message.type === 'stopped') resolve()
        else if (!isClosing) follow(message).catch(onFailure)
      })
      ingest.once('exit', () => resolve())
    })
    threads = { ingest, reader, stopped }
  }

  return {
    start,
    /** @throws {HttpProblem} 503 before `start` */
    requireOpen: () => void open(),
    ask,
    state: () => state,
    completeness(): Completeness {
      const events = state.segments.filter(({ count }) => count > 0)
      const first = events.reduce((least, one) => Math.min(least, one.first), Infinity)
      const last = events.reduce((most, one) => Math.max(most, one.last), -Infinity)
      return {
        indexLag: state.lag,
        newest: events.length > 0 ? isoTime(last) : null,
        oldestKept: events.length > 0 ? isoTime(first) : null,
        kept: events.reduce((sum, { count }) => sum + count, 0),
        gaps,
        unreadable: state.unreadable,
        isConnected: state.isConnected,
      }
    },
    onBatch(listener: (batch: IngestBatch) => void): () => void {
      batches.on('batch', listener)
      return () => batches.off('batch', listener)
    },
    /** Sets whether a live view is open, and the hashes of the GUIDs in the filters of live views. */
    watch: (isLive: boolean, hashes: number[]): void =>
      threads?.ingest.postMessage({ type: 'watch', isLive, hashes } satisfies ToIngest),
    async close(): Promise<void> {
      isClosing = true
      if (!threads) return
      const { ingest, reader, stopped } = threads
      ingest.postMessage({ type: 'stop' } satisfies ToIngest)
      await Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, stopMs).unref())])
      await Promise.all([ingest.terminate(), reader.terminate()])
    },
  }
}
