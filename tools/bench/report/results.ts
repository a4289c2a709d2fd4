import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import type { Environment } from './environment.ts'
import type { Findings } from './findings.ts'

export interface Result extends Findings {
  part: string
  title: string
  quick: boolean
  seconds: number
  environment: Environment
}

/** The folder with the last result of each part. git ignores it. */
const resultsFolder = join(repository, 'tools/bench/results')

/** Replaces the part’s last result, and returns its file. */
export function writeResult(result: Result): string {
  mkdirSync(resultsFolder, { recursive: true })
  const file = join(resultsFolder, `${result.part}.json`)
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`)
  return file
}

export function readResult(part: string): Result | undefined {
  const file = join(resultsFolder, `${part}.json`)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Result) : undefined
}

export function describeEnvironment({ environment, quick }: Pick<Result, 'environment' | 'quick'>): string {
  const { date, machine, commit, loadBefore } = environment
  const load = `load before: ${loadBefore.toFixed(1)}`
  return `${date.slice(0, 10)}, ${machine}; commit ${commit}; ${load}${quick ? '; QUICK: these figures mean little' : ''}`
}
