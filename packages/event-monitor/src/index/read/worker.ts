import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { IngestData } from '../../ingest/messages.ts'
import { storageFault } from '../sqlite.ts'
import { createReads, type Reads } from './reads.ts'

export interface Question {
  id: number
  method: keyof Reads
  args: unknown[]
}
export type Reply =
  | { id: number; ok: true; value: unknown }
  /** `isStorage` is true if the disk causes the error. */
  | { id: number; ok: false; error: string; isStorage: boolean }

const port = parentPort as MessagePort
const { application, folder } = workerData as IngestData
const reads = createReads(application.reactions)

let isPreparing = false

port.on('message', ({ id, method, args }: Question) => {
  port.postMessage(answer(id, method, args))
  if (method !== 'follow' || isPreparing) return
  isPreparing = true
  setImmediate(prepare)
})

/** Reads rows for dead letters and missing reactions between other queries. */
function prepare(): void {
  try {
    isPreparing = reads.prepare()
  } catch {
    // The disk may be full. The next query reads these rows, and reports the error.
    isPreparing = false
  }
  if (isPreparing) setImmediate(prepare)
}

function answer(id: number, method: keyof Reads, args: unknown[]): Reply {
  try {
    // biome-ignore lint/plugin/no-spread-arguments: a query has few parameters
    return { id, ok: true, value: (reads[method] as (...given: unknown[]) => unknown)(...args) }
  } catch (error) {
    const fault = storageFault(error, folder)
    return { id, ok: false, error: fault ?? (error as Error).stack ?? String(error), isStorage: fault !== undefined }
  }
}
