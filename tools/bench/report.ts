/** `make -C tools bench-report` writes the last results of each part into docs/performance.md, with charts. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/cli'
import { parts } from './parts/index.ts'
import { chartFile, readResult, resultsFolder } from './report/results.ts'
import { sectionOf, withSection } from './report/section.ts'

const document = join(repository, 'docs/performance.md')
const chartsFolder = join(repository, 'docs/performance')

for (const part of Object.keys(parts)) {
  const result = readResult(part)
  if (!result || result.quick) {
    console.log(
      `${part}: ${result ? 'its last run was a quick one' : 'it has no result yet'}, so its section stays unchanged; run make -C tools bench PART=${part}`,
    )
    continue
  }
  mkdirSync(chartsFolder, { recursive: true })
  for (const { name } of result.charts) {
    copyFileSync(join(resultsFolder, chartFile(part, name)), join(chartsFolder, chartFile(part, name)))
  }
  writeFileSync(document, withSection(readFileSync(document, 'utf8'), part, sectionOf(result, 'performance')))
  console.log(`${part}: section written, with the results of ${result.environment.date.slice(0, 10)}`)
}
