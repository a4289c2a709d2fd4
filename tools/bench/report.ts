/**
 * `make -C tools bench-report` writes the last results of each part into docs/performance-findings.md. Then it draws the pictures of
 * docs/performance.md from the tables of that document.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { type PartName, parts } from './parts/index.ts'
import { svgOf } from './report/chart.ts'
import { chartOf } from './report/pictures.ts'
import { readResult } from './report/results.ts'
import { pictureSection, sectionIn, sectionOf, withSection } from './report/section.ts'

const documents = join(repository, 'docs')
const findingsFile = join(documents, 'performance-findings.md')
const pageFile = join(documents, 'performance.md')

let findings = readFileSync(findingsFile, 'utf8')
let page = readFileSync(pageFile, 'utf8')
mkdirSync(join(documents, 'performance'), { recursive: true })
for (const part of Object.keys(parts) as PartName[]) {
  const result = readResult(part)
  if (!result || result.quick) {
    console.log(
      `${part}: ${result ? 'its last run was a quick one' : 'it has no result yet'}, so its tables stay unchanged; run make -C tools bench PART=${part}`,
    )
  } else {
    findings = withSection(findings, part, sectionOf(result))
    console.log(`${part}: tables written, with the results of ${result.environment.date.slice(0, 10)}`)
  }
  writeFileSync(join(documents, 'performance', `${part}.svg`), svgOf(chartOf(part, sectionIn(findings, part))))
  page = withSection(page, part, pictureSection(part, findings))
}
writeFileSync(findingsFile, findings)
writeFileSync(pageFile, page)
