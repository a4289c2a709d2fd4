import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { attempt } from './error.ts'

export interface ProcessEntry {
  pid: number
  group: number
  /**
   * Distinguishes processes with the same pid. On Linux it contains the id of the boot and the start in clock ticks. On other systems it is
   * the start time.
   */
  startId: string
}

/** Returns live processes by pid. Leaves out zombies, because pid 1 of some containers never reaps them. */
export function readProcessTable(): Map<number, ProcessEntry> {
  const entries = process.platform === 'linux' ? readProc() : readPs()
  return new Map(entries.map((entry) => [entry.pid, entry]))
}

export function residentBytes(pid: number): number {
  const kilobytes = attempt(() =>
    process.platform === 'linux'
      ? /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
      : ps('-o', 'rss=', '-p', String(pid)),
  )
  return Number(kilobytes ?? 0) * 1024
}

export function commandOf(pid: number): string {
  const words = attempt(() =>
    process.platform === 'linux'
      ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      : ps('-o', 'command=', '-p', String(pid)).trim().split(' '),
  )
  const names = words?.slice(0, 2).map((word) => word.split('/').at(-1))
  return names?.join(' ').trim() ?? 'unknown'
}

function readProc(): ProcessEntry[] {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)
  return pidsInProc().flatMap((pid) => attempt(() => parseStat(pid, boot)) ?? [])
}

export const pidsInProc = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

/**
 * Parses /proc/PID/stat. After the command's closing parenthesis, the first fields are state, ppid and pgrp. Field 18 is the number of threads, field
 * 20 the start time. A killed process with several threads is a zombie that keeps its ports until all threads have ended.
 */
function parseStat(pid: number, boot: string): ProcessEntry | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields[0] === 'X' || (fields[0] === 'Z' && Number(fields[17]) <= 1)) return undefined
  return { pid, group: Number(fields[2]), startId: `${boot}:${fields[19]}` }
}

/** Reads `ps` on systems without /proc, such as macOS. Zombies have the state Z. */
export function readPs(printed = ps('-A', '-o', 'pid=,pgid=,stat=,lstart=')): ProcessEntry[] {
  return printed.split('\n').flatMap((line) => {
    const [pid, group, state, ...start] = line.trim().split(/\s+/)
    if (!pid || state?.startsWith('Z')) return []
    return [{ pid: Number(pid), group: Number(group), startId: start.join(' ') }]
  })
}

/** The variable that marks all processes of a stack's process, also its children. Its value ends in `.exit`. */
export const markVariable = 'ORDERFLOW_PROCESS'

/** Returns the marks of live processes, by pid. Leaves out processes whose environment this user may not read. */
export const readMarks = (): Map<number, string> => (process.platform === 'linux' ? marksInProc() : marksInPs())

function marksInProc(): Map<number, string> {
  const marks = pidsInProc().flatMap((pid) => {
    const variables = attempt(() => readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0'))
    const found = variables?.find((variable) => variable.startsWith(`${markVariable}=`))
    return found ? [[pid, found.slice(markVariable.length + 1)] as const] : []
  })
  return new Map(marks)
}

/** Reads `ps` on systems without /proc, which prints the environment after the command. */
export function marksInPs(printed = ps('-A', '-E', '-ww', '-o', 'pid=,command=')): Map<number, string> {
  const line = new RegExp(`^ *(\\d+) .*? ${markVariable}=(.+?\\.exit)(?= |$)`, 'gm')
  return new Map(Array.from(printed.matchAll(line), ([, pid, mark = '']) => [Number(pid), mark]))
}

/** The longest output of `ps`, in bytes: the environments of all processes. */
const mostPrinted = 64 * 2 ** 20

/** Fixes language and time zone, so that a start time always has the same text. */
function ps(...args: string[]): string {
  const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }
  return execFileSync('ps', args, { encoding: 'utf8', env, maxBuffer: mostPrinted })
}
