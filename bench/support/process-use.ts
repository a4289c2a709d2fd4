import { readFileSync } from 'node:fs'
import { processState, readProcessTable, recordedNames, residentBytes } from '@orderflow/stack/parts'

export interface ProcessUse {
  name: string
  /** Processor time since its start. */
  processorMs: number
  residentBytes: number
}

/** What each running process of a stack's folder uses. */
export function processUse(folder: string): ProcessUse[] {
  const table = readProcessTable()
  return recordedNames(folder).flatMap((name) => {
    const state = processState(folder, name, table)
    if (state.state !== 'running') return []
    return [{ name, processorMs: processorMs(state.pid), residentBytes: residentBytes(state.pid) }]
  })
}

/** Linux counts in hundredths of a second (proc_pid_stat(5)). No other system's figures would be fine enough. */
function processorMs(pid: number): number {
  const [, afterName = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user = 0, system = 0] = afterName.split(' ').slice(11, 13).map(Number)
  return (user + system) * 10
}

/** Milliseconds of processor time by the process's name. */
export type ProcessorTime = Record<string, number>

/** Begins to count. Returns a function that tells what each running process of the folder took since. */
export function countProcessorTime(folder: string): () => ProcessorTime {
  const before = new Map(processUse(folder).map(({ name, processorMs }) => [name, processorMs]))
  return () =>
    Object.fromEntries(
      processUse(folder).map(({ name, processorMs }) => [name, processorMs - (before.get(name) ?? 0)] as const),
    )
}

/** The largest resident memory of each process so far, in bytes, by the process's name. */
export type PeakMemory = Record<string, number>

/** Samples the memory of all processes of a folder. Returns a function that ends it and tells the peaks. */
export function watchMemory(folder: string): () => PeakMemory {
  const peaks: PeakMemory = {}
  const sample = () => {
    const table = readProcessTable()
    for (const name of recordedNames(folder)) {
      const state = processState(folder, name, table)
      if (state.state === 'running') peaks[name] = Math.max(peaks[name] ?? 0, residentBytes(state.pid))
    }
  }
  const timer = setInterval(sample, 500)
  return () => {
    clearInterval(timer)
    sample()
    return peaks
  }
}
