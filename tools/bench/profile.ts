/**
 * Prints the processor time of Node processes by package: `packages/cli/node tools/bench/profile.ts FILE.cpuprofile ...`, with files of
 * `--cpu-prof`.
 */
import { readFileSync } from 'node:fs'
import { number } from './report/findings.ts'
import { markdownTable } from './report/markdown.ts'
import { type CpuProfile, profileShares } from './support/profile.ts'

const shown = 20

for (const file of process.argv.slice(2)) {
  const { busyMs, shares } = profileShares(JSON.parse(readFileSync(file, 'utf8')) as CpuProfile)
  const rows = shares.slice(0, shown).map(({ where, ms }) => [where, number((100 * ms) / busyMs, 1)])
  console.log(`\n${file}: ${number(busyMs)} ms busy\n\n${markdownTable({ head: ['where', '%'], rows })}`)
}
