import { readFileSync, writeFileSync } from 'node:fs'
import { processState, readProcessTable, recordedNames } from '@orderflow/stack/internals'

interface ProcessUse {
  name: string
  processorMs: number
  /** The part of `processorMs` that the main thread used. The other threads of Node collect garbage and compile. */
  mainThreadMs: number
}

/** Returns the processor time of each running process in a stack’s folder. */
export function processUse(folder: string): ProcessUse[] {
  return runningIn(folder).map(({ name, pid }) => ({
    name,
    processorMs: processorMs(pid),
    mainThreadMs: sumOfTimes(`${pid}/task/${pid}`, 2) * 10,
  }))
}

/**
 * Returns the processor time of a process and its children, because PostgreSQL has a process for each connection. Only Linux is precise
 * enough (proc_pid_stat(5)).
 */
function processorMs(pid: number): number {
  const children = read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean)
  return children.reduce((sum, child) => sum + sumOfTimes(child, 2), sumOfTimes(pid, 4)) * 10
}

/**
 * Adds up the user and system time of a process or thread. With four fields, the sum includes the times of its ended children. Returns 0
 * for a missing process.
 * @param task the id of a process, or `process/task/thread`
 */
function sumOfTimes(task: number | string, fields: 2 | 4): number {
  const [, afterName = ''] = read(`/proc/${task}/stat`).split(') ')
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

/** Milliseconds of processor time by the process’s name. */
export type ProcessorTime = Record<string, number>

/** Begins a measurement. The returned function returns the processor time of each process, or of its main thread. */
export function countProcessorTime(
  folder: string,
  of: 'processorMs' | 'mainThreadMs' = 'processorMs',
): () => ProcessorTime {
  const before = new Map(processUse(folder).map((use) => [use.name, use[of]]))
  return () =>
    Object.fromEntries(processUse(folder).map((use) => [use.name, use[of] - (before.get(use.name) ?? 0)] as const))
}

/** The largest resident memory of each process so far, in bytes, by the process’s name. */
export type PeakMemory = Record<string, number>

/**
 * Begins a measurement. The returned function returns the memory peaks. Linux records peaks (proc_pid_clear_refs(5), proc_pid_status(5)), so
 * no sampling disturbs the measurement.
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
