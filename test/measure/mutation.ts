/** `make -C tools mutation` changes the source in small ways and counts the changes that tests miss (docs/mutation.md). */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { cacheFolder, repository } from '@orderflow/stack/base'
import { parts } from './parts.ts'
import { measuringTools } from './tools.ts'

interface Report {
  files: Record<string, { mutants: { status: string }[] }>
}
type Part = keyof typeof parts

/** The reused results: mutants that a test detected, and mutants that failed to load. */
const reused = new Set(['Killed', 'Timeout', 'RuntimeError'])

const [only] = process.argv.slice(2)
if (only !== undefined && !(only in parts)) {
  process.stderr.write(`error: unknown part ${only}\nnext: PART is one of ${Object.keys(parts).join(' ')}\n`)
  process.exit(1)
}

const stryker = join(await measuringTools(), 'stryker')
const weak = Object.keys(parts).filter((part) => (only ?? part) === part && !isStrong(part))
if (only === undefined) writeCounts()
if (weak.length > 0) process.stderr.write(`error: Stryker failed, or too many mutants survive in ${weak.join(', ')}\n`)
process.exitCode = weak.length > 0 ? 1 : 0

function isStrong(part: string): boolean {
  forgetSurvivors(part as Part)
  const command = ['-n', '19', process.execPath, stryker, 'run', 'test/measure/stryker.config.mjs']
  // Each static mutant needs its own process, which loads all source and tests.
  const env = { ...process.env, MUTATED_PART: part, NODE_COMPILE_CACHE: join(cacheFolder(), 'compile-cache') }
  return spawnSync('nice', command, { cwd: repository, env, stdio: 'inherit' }).status === 0
}

/**
 * Removes all earlier results except killed mutants. Otherwise Stryker would not run a new test against a static mutant that has survived,
 * and would count files that are now excluded.
 */
function forgetSurvivors(part: Part): void {
  const file = join(cacheFolder(), 'mutation', `${part}.json`)
  if (!existsSync(file)) return
  const patterns: readonly string[] = parts[part].mutate
  const isExclusion = (pattern: string) => pattern.startsWith('!')
  const exclude = patterns.filter(isExclusion).map((pattern) => pattern.slice(1))
  const included = patterns.filter((pattern) => !isExclusion(pattern))
  const mutated = new Set(globSync(included, { cwd: repository, exclude }))
  const { files, ...report } = JSON.parse(readFileSync(file, 'utf8')) as Report
  const kept = Object.entries(files)
    .filter(([path]) => mutated.has(path))
    .map(([path, own]) => [path, { ...own, mutants: own.mutants.filter(({ status }) => reused.has(status)) }])
  writeFileSync(file, JSON.stringify({ ...report, files: Object.fromEntries(kept) }))
}

function writeCounts(): void {
  const counts = Object.keys(parts).map((part) => countsOf(part))
  const total = { part: 'all', killed: sumOf(counts, 'killed'), survived: sumOf(counts, 'survived') }
  const rows = [...counts, total].map(({ part, killed, survived }) => {
    return `| ${part} | ${killed + survived} | ${survived} | ${((100 * killed) / (killed + survived)).toFixed(1)} % |`
  })
  const machine = `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores, Node ${process.versions.node}`
  const table = [
    '| Part | Mutants | Survived | Killed |',
    '| --- | --: | --: | --: |',
    ...rows,
    '',
    `(${machine})`,
  ].join('\n')
  const file = join(repository, 'docs/mutation.md')
  const [before, after] = readFileSync(file, 'utf8').split(/(?<=<!-- counts -->\n)[\s\S]*(?=<!-- end -->)/)
  if (after === undefined) throw new Error(`${file} has no table for the counts`)
  writeFileSync(file, `${before}${table}\n${after}`)
}

/**
 * Uses Stryker’s rules: a mutant is treated as detected after a timeout, and as surviving if no test reaches it. Mutants that end the
 * process are left out.
 */
function countsOf(part: string) {
  const { files } = JSON.parse(readFileSync(join(repository, `reports/mutation/${part}.json`), 'utf8')) as Report
  const statuses = Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status))
  const count = (...wanted: string[]) => statuses.filter((status) => wanted.includes(status)).length
  return { part, killed: count('Killed', 'Timeout'), survived: count('Survived', 'NoCoverage') }
}

function sumOf<K extends string>(all: Record<K, number>[], key: K): number {
  return all.reduce((sum, each) => sum + each[key], 0)
}
