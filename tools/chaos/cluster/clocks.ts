import { globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The wall clocks of processes, which the test can set. Elapsed time stays true, as if a user or a time server had set the clock. */
export interface Clocks {
  /** Returns the variables of a process whose clock can be set. */
  env(process: string): Record<string, string>
  /** Sets a clock ahead, or back if `seconds` is negative. 0 corrects it. The process notices it within a second. */
  set(process: string, seconds: number): void
}

/** Finds libfaketime, which Debian has as a package. Returns undefined without it. Programs in Go, such as daprd, ignore it. */
export function findClocks(folder: string): Clocks | undefined {
  const [library] = globSync('/usr/lib*/{,*/}faketime/libfaketimeMT.so.1')
  if (library === undefined) return undefined
  const fileOf = (process: string) => resolve(folder, 'clocks', process)
  const set = (process: string, seconds: number) =>
    writeFileSync(fileOf(process), `${seconds < 0 ? '' : '+'}${seconds}\n`)
  mkdirSync(join(folder, 'clocks'), { recursive: true })
  return {
    env(process) {
      set(process, 0)
      return {
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: fileOf(process),
        FAKETIME_CACHE_DURATION: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      }
    },
    set,
  }
}
