import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
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

/**
 * Of a process and its children, those that have ended too: PostgreSQL has one for each connection. Linux counts in hundredths of a
 * second (proc_pid_stat(5)). No other system's figures would be fine enough.
 */
function processorMs(pid: number): number {
  const children = read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean)
  return children.reduce((sum, child) => sum + sumOfTimes(child, 2), sumOfTimes(pid, 4)) * 10
}

/** User and system time come first, then both of the children that have ended. Nothing for a child that ends meanwhile. */
function sumOfTimes(pid: number | string, fields: 2 | 4): number {
  const [, afterName = ''] = read(`/proc/${pid}/stat`).split(') ')
  const times = afterName.split(' ').slice(11, 11 + fields)
  return times.reduce((sum, time) => sum + Number(time), 0)
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Begins to count. Returns a function that tells which share of the machine's processors was busy since, with whatever. */
export function countBusyShare(): () => number {
  const now = () => {
    const times = cpus().map((core) => core.times)
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
    return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap((each) => Object.values(each))) }
  }
  const before = now()
  return () => {
    const { idle, all } = now()
    return 1 - (idle - before.idle) / (all - before.all)
  }
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
