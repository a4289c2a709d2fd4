import { execFileSync } from 'node:child_process'
import { processState, readProcessTable, recordedNames, residentBytes } from '@orderflow/stack/parts'

export interface ProcessUse {
  name: string
  /** Processor time since its start. `ps` counts whole seconds: take it over thousands of orders. */
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

function processorMs(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'cputimes=', '-p', String(pid)], { encoding: 'utf8' })) * 1_000
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
