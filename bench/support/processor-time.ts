import { execFileSync } from 'node:child_process'

/** Processor time that a process has used so far, in milliseconds. `ps` counts whole seconds: take it over thousands of orders. */
export function processorMs(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'cputimes=', '-p', String(pid)], { encoding: 'utf8' })) * 1_000
}
