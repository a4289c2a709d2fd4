/** `make -C tools chaos` runs the system under load and faults, and audits the results. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { unmountBelow } from '@orderflow/service-kit/testing'
import { CliError, localFolder, timed } from '@orderflow/stack/base'
import { provision } from '@orderflow/stack/machine'
import type { BreakOptions } from './break-it.ts'
import { faultNames, schedule } from './faults/schedule.ts'
import { lateMs } from './ledger/expiries.ts'
import { createRandom } from './load/random.ts'
import { formatReport } from './report/format.ts'
import { isClean } from './report/report.ts'
import { reportFile, runChaos } from './run.ts'
import { chaosSettings } from './settings.ts'

const freezeMs = 30_000
const lockMs = 10_000
const paymentWithinMs = 30_000
/** Longer than the largest delay of an expiry, so that a larger delay is noticed. */
const unpaidMs = paymentWithinMs + lateMs + 5_000

async function main(): Promise<void> {
  const settings = chaosSettings(process.env)
  const { seed, minutes, rate, replicas, store, brokers } = settings
  const onProgress = timed()
  const named = { MINUTES: minutes, SEED: seed, RATE: rate, REPLICAS: replicas, STORE: store, BROKERS: brokers }
  const variables = Object.entries(named).map(([name, value]) => `${name}=${value}`)
  onProgress(`again: make -C tools chaos ${variables.join(' ')}`)
  const folder = join(localFolder, 'chaos', seed)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      unmountBelow(folder)
      process.exit(130)
    })
  }
  await provision({ store, onProgress })
  mkdirSync(folder, { recursive: true })
  const targets = { replicas, store, brokers, paymentWithinMs, disks: true, clocks: true, freezeMs, lockMs }
  const steps: BreakOptions['steps'] = (means) => schedule(createRandom(seed, 'faults'), { ...targets, ...means })
  const report = await runChaos({ ...settings, folder, paymentWithinMs, steps, unpaidMs, onProgress })
  console.log(`\n${formatReport(report)}\n${reportFile(folder)}`)
  const done = new Set(report.faults.flatMap(({ names }) => names))
  const others = faultNames(targets).filter((name) => !done.has(name))
  if (others.length > 0)
    console.log(`this run was too short for these faults: ${others.join(', ')}; a larger MINUTES includes them`)
  if (isClean(report)) return
  console.log(`next: read docs/chaos.md; logs, ledger.db and the stores are in ${folder}`)
  process.exitCode = 1
}

try {
  await main()
} catch (error) {
  if (!(error instanceof CliError)) throw error
  process.stderr.write(`error: ${error.message}\n`)
  if (error.nextStep) process.stderr.write(`next: ${error.nextStep}\n`)
  process.exitCode = 1
}
