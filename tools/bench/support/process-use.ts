import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { processState, readProcessTable, recordedNames, residentBytes } from '@orderflow/cli'

export interface ProcessUse {
  name: string
  /** Processor time since its start. */
  processorMs: number
  residentBytes: number
}

/** What each running process of a stack's folder uses. */
export function processUse(folder: string): ProcessUse[] {
  return runningIn(folder).map(({ name, pid }) => ({
    name,
    processorMs: processorMs(pid),
    residentBytes: residentBytes(pid),
  }))
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

/**
 * Begins to watch the memory of all processes of a folder. Returns a function that tells the peaks of those that run then. Linux keeps
 * them (proc_pid_clear_refs(5), proc_pid_status(5)): to look often would take time from what is measured beside it.
 */
export function watchMemory(folder: string): () => PeakMemory {
  for (const { pid } of runningIn(folder)) writeFileSync(`/proc/${pid}/clear_refs`, '5')
  return () => Object.fromEntries(runningIn(folder).map(({ name, pid }) => [name, peakBytes(pid)]))
}

function peakBytes(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1]) * 1024
}

function runningIn(folder: string): { name: string; pid: number }[] {
  const table = readProcessTable()
  return recordedNames(folder).flatMap((name) => {
    const state = processState(folder, name, table)
    return state.state === 'running' ? [{ name, pid: state.pid }] : []
  })
}
