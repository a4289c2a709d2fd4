/**
 * `make -C tools coverage` runs the unit tests, prints the line coverage, and fails if it is below the floor. docs/mutation.md explains the numbers.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { measuringTools } from './tools.ts'

const worthNaming = 80
/** The smallest accepted share of lines, in percent: one below the share on 2026-11-28. */
const floor = 77
const folder = 'reports/coverage'

const tests = ['{*,packages/*}/test/**/*.unit.test.ts', '{test,tools}/**/*.unit.test.ts']
const measured = [
  '--all',
  '--include',
  '{*,packages/*}/src/**/*.ts',
  '--exclude',
  '**/*.gen.ts',
  '--exclude',
  '**/template/**',
  '**/templates/new-service/**',
]
const reports = ['text-summary', 'json-summary', 'lcov'].flatMap((reporter) => ['--reporter', reporter])
const places = ['--reports-dir', folder, '--temp-directory', `${folder}/tmp`]
const mocha = ['node_modules/.bin/mocha', '--reporter', 'dot', ...tests]

const c8 = join(await measuringTools(), 'c8')
const { status } = spawnSync(process.execPath, [c8, ...measured, ...reports, ...places, ...mocha], {
  cwd: repository,
  stdio: 'inherit',
})
process.exitCode = status ?? 1
if (status === 0) report()

type Summary = Record<string, Lines>
interface Lines {
  lines: { total: number; covered: number; pct: number }
}

function report(): void {
  const { total, ...files } = JSON.parse(
    readFileSync(join(repository, folder, 'coverage-summary.json'), 'utf8'),
  ) as Summary
  const below = Object.entries(files).filter(([, { lines }]) => lines.pct < worthNaming)
  console.log(`\n${below.length} of ${Object.keys(files).length} files are below ${worthNaming} % of their lines:`)
  for (const [file, { lines }] of below.sort(([, a], [, b]) => missing(b) - missing(a))) {
    console.log(
      `${String(Math.round(lines.pct)).padStart(4)} %  covered, ${missing({ lines })} lines not reached in ${relative(repository, file)}`,
    )
  }
  console.log(`\n${folder}/lcov-report/index.html shows the coverage of each line`)
  const share = (total as Lines).lines.pct
  console.log(`the unit tests run ${share} % of the lines; the floor is ${floor} %`)
  if (share >= floor) return
  console.error('error: the coverage is below the floor\nnext: add unit tests for the new lines')
  process.exitCode = 1
}

function missing({ lines }: Lines): number {
  return lines.total - lines.covered
}
