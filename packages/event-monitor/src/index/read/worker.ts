import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { IngestData } from '../../ingest/messages.ts'
import { createReads, type Reads } from './reads.ts'

export interface Question {
  id: number
  method: keyof Reads
  args: unknown[]
}
export type Reply = { id: number; ok: true; value: unknown } | { id: number; ok: false; error: string }

const port = parentPort as MessagePort
const reads = createReads((workerData as IngestData).application.reactions)

let isPreparing = false

port.on('message', ({ id, method, args }: Question) => {
  port.postMessage(answer(id, method, args))
  if (method !== 'follow' || isPreparing) return
  isPreparing = true
  setImmediate(prepare)
})

/** Reads rows for missing reactions between other queries. */
function prepare(): void {
  isPreparing = reads.prepare()
  if (isPreparing) setImmediate(prepare)
}

function answer(id: number, method: keyof Reads, args: unknown[]): Reply {
  try {
    // biome-ignore lint/plugin/no-spread-arguments: a query has few parameters
    return { id, ok: true, value: (reads[method] as (...given: unknown[]) => unknown)(...args) }
  } catch (error) {
    return { id, ok: false, error: (error as Error).stack ?? String(error) }
  }
}
