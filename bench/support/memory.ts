import { processState, readProcessTable, recordedNames, residentBytes } from '@orderflow/stack/parts'

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
