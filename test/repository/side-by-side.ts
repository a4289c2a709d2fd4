// Usage: node test/repository/side-by-side.ts [-C FOLDER] TARGET[,TARGET...]...
// Runs targets of a Makefile at the same time, because suites often wait for brokers and sidecars. Targets joined by a comma run in turn,
// until one fails. Prints failures, skipped tests and the total at the end.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

interface Outcome {
  target: string
  code: number | null
  passed: number
  failed: number
  failures: string[]
  notRun: string[]
}

const { values, positionals } = parseArgs({
  options: { folder: { type: 'string', short: 'C' } },
  allowPositionals: true,
})
const inFolder = values.folder ? ['-C', values.folder] : []
const sequences = positionals.map((sequence) => sequence.split(','))
const width = Math.max(...sequences.flat().map((target) => target.length))
const outcomes = (await Promise.all(sequences.map(runInTurn))).flat()
const total = (key: 'passed' | 'failed') => outcomes.reduce((sum, outcome) => sum + outcome[key], 0)
for (const { target, code, failures } of outcomes) {
  if (code !== 0) console.log(`\n${target} failed; run it alone with: ${['make', ...inFolder, target].join(' ')}`)
  for (const line of failures) console.log(line)
}
console.log()
for (const line of outcomes.flatMap(({ notRun }) => notRun)) console.log(line)
console.log(`${total('passed')} passed, ${total('failed')} failed`)
if (outcomes.some(({ code }) => code !== 0)) process.exitCode = 1

async function runInTurn([target, ...others]: string[]): Promise<Outcome[]> {
  if (target === undefined) return []
  const outcome = await run(target)
  if (outcome.code === 0) return [outcome, ...(await runInTurn(others))]
  outcome.notRun.push(...others.map((other) => `not run: ${other} (${target} failed)`))
  return [outcome]
}

function run(target: string): Promise<Outcome> {
  const child = spawn('make', ['--no-print-directory', ...inFolder, target], { stdio: ['ignore', 'pipe', 'pipe'] })
  const outcome: Outcome = { target, code: null, passed: 0, failed: 0, failures: [], notRun: [] }
  let failing = false
  const print = (line: string) => {
    const count = /^(\d+) passed, (\d+) failed$/.exec(line)
    // The suite prints its number of tests last. Its tests may print other numbers earlier in the run.
    if (count) Object.assign(outcome, { passed: Number(count[1]), failed: Number(count[2]) })
    if (/^\S* +\d+ failing/.test(line)) {
      outcome.failures = []
      failing = true
    }
    if (count || line === 'slowest files:') failing = false
    if (failing) outcome.failures.push(line)
    if (line.startsWith('not run: ')) outcome.notRun.push(line)
    console.log(`${target.padEnd(width)} | ${line}`)
  }
  createInterface({ input: child.stdout }).on('line', print)
  createInterface({ input: child.stderr }).on('line', print)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ ...outcome, code }))
  })
}
