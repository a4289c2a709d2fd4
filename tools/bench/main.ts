/** `make -C tools bench` runs parts of the benchmark: `node tools/bench/main.ts [part ...]`. QUICK=1 chooses small sizes. */
import { relative } from 'node:path'
import { CliError, reportError, repository, timed } from '@orderflow/stack/base'
import { type PartName, parts } from './parts/index.ts'
import { environment } from './report/environment.ts'
import { markdownOf } from './report/markdown.ts'
import { describeEnvironment, type Result, writeResult } from './report/results.ts'
import { saysYes } from './support/says-yes.ts'

const names = Object.keys(parts) as PartName[]
const tell = timed()

function chosen(words: string[]): PartName[] {
  const unknown = words.find((word) => !names.includes(word as PartName))
  if (unknown === undefined) return words.length > 0 ? (words as PartName[]) : names
  throw new CliError('usage', `unknown part ${unknown}`, { nextStep: `PART is one or more of ${names.join(' ')}` })
}

async function measure(part: PartName, quick: boolean): Promise<Result> {
  const { title, measure } = parts[part]
  console.log(`\n${part}: ${title}`)
  const [conditions, startedAt] = [environment(new Date()), performance.now()]
  const findings = await measure({ quick, tell: (line) => tell(`${part}: ${line}`) })
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  return { part, title, quick, seconds, environment: conditions, ...findings }
}

try {
  const quick = saysYes(process.env, 'QUICK')
  for (const part of chosen(process.argv.slice(2))) {
    const result = await measure(part, quick)
    const file = relative(repository, writeResult(result))
    console.log(`\n${markdownOf(result)}\n${describeEnvironment(result)}\n${file}`)
  }
} catch (error) {
  reportError(error)
}
