import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/cli'
import { svgOf } from './chart.ts'
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
export const resultsFolder = join(repository, 'tools/bench/results')

export const chartFile = (part: string, chart: string) => `${part}-${chart}.svg`

/** Replaces the part’s last result: a JSON file, and an SVG file for each chart. */
export function writeResult(result: Result): string[] {
  mkdirSync(resultsFolder, { recursive: true })
  const files = [
    [`${result.part}.json`, `${JSON.stringify(result, null, 2)}\n`] as const,
    ...result.charts.map((chart) => [chartFile(result.part, chart.name), svgOf(chart)] as const),
  ]
  return files.map(([name, text]) => {
    const file = join(resultsFolder, name)
    writeFileSync(file, text)
    return file
  })
}

export function readResult(part: string): Result | undefined {
  const file = join(resultsFolder, `${part}.json`)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Result) : undefined
}

export function describeEnvironment({ environment, quick }: Pick<Result, 'environment' | 'quick'>): string {
  const { date, machine, versions, commit, loadBefore } = environment
  const load = `load before: ${loadBefore.toFixed(1)}`
  return `${date.slice(0, 10)}, ${machine}; ${versions}; commit ${commit}; ${load}${quick ? '; QUICK: these figures mean little' : ''}`
}
