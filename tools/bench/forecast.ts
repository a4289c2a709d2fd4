/**
 * `make -C tools forecast` runs the model of tools/forecast with the measured figures, and writes its tables and charts into docs/forecast.md. Fails if
 * a predicted rate differs too much from the measured one. `node tools/bench/forecast.ts test` runs the model's own tests.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pythonPackages } from '@orderflow/programs'
import { repository, runTool } from '@orderflow/stack/base'
import { provisionTools } from '@orderflow/stack/internals'
import { svgOf } from './report/chart.ts'
import type { Chart, Table } from './report/findings.ts'
import { markdownOf } from './report/markdown.ts'
import { describeEnvironment, type Result, readResult } from './report/results.ts'
import { withSection } from './report/section.ts'

type Measured = Pick<Result, 'environment' | 'quick'> & { figures: object }

interface Forecast {
  sections: Record<string, Table[]>
  charts: (Chart & { name: string })[]
  /** The predictions that differ too much, with their difference. */
  failed: string[]
}

const folder = join(repository, 'tools/forecast')
const measuredFile = join(folder, 'measured.json')
const document = join(repository, 'docs/forecast.md')
const chartsFolder = join(repository, 'docs/forecast')
const simpy = pythonPackages('forecast', join(folder, 'requirements.txt'), 'simpy: downloading 27 KB')

function python(args: string[], onLine: (line: string) => void = () => {}): Promise<string> {
  const env = { PYTHONPATH: simpy.folder, PYTHONDONTWRITEBYTECODE: '1' }
  return runTool('python3', args, { cwd: folder, env, onLine })
}

/** Copies the last result of the benchmark, so that others can repeat the forecast. Returns the copy. */
function measured(): Measured {
  const last = readResult('capacity')
  if (last && !last.quick) {
    const { environment, quick, figures } = last
    writeFileSync(measuredFile, `${JSON.stringify({ environment, quick, figures }, null, 2)}\n`)
  }
  return JSON.parse(readFileSync(measuredFile, 'utf8')) as Measured
}

function write({ sections, charts }: Forecast, source: string): void {
  mkdirSync(chartsFolder, { recursive: true })
  for (const chart of charts) writeFileSync(join(chartsFolder, `${chart.name}.svg`), svgOf(chart))
  let text = readFileSync(document, 'utf8')
  for (const [name, tables] of Object.entries(sections)) {
    const images = charts
      .filter((chart) => chart.name === name)
      .map(({ title }) => `![${title}](forecast/${name}.svg)\n`)
    const parts = [...images, markdownOf({ tables, goals: [] }), name === 'check' ? `Measured ${source}.\n` : '']
    text = withSection(text, `forecast-${name}`, `\n${parts.join('\n').trimEnd()}\n`)
  }
  writeFileSync(document, text)
}

await provisionTools([simpy], { onProgress: console.error })
if (process.argv[2] === 'test') {
  await python(['-m', 'unittest', 'discover', '--start-directory', 'test', '--top-level-directory', '.'], console.error)
} else {
  const source = measured()
  const forecast = JSON.parse(await python(['-m', 'forecast', measuredFile])) as Forecast
  console.log(markdownOf({ tables: Object.values(forecast.sections).flat(), goals: [] }))
  if (existsSync(document)) write(forecast, describeEnvironment(source))
  if (forecast.failed.length > 0) {
    process.stderr.write(
      `error: ${forecast.failed.join(', ')}: more than 15 % from the measured rate.\nnext: run make -C tools bench PART=capacity, and compare the costs\n`,
    )
    process.exitCode = 1
  }
}
