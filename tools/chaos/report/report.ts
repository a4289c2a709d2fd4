import { cpus, loadavg } from 'node:os'
import type { LocalStore } from '@orderflow/cli'
import type { Death } from '../cluster/supervisor.ts'
import { evidence, type Finding, totals } from '../ledger/audit.ts'
import type { Book } from '../ledger/book.ts'
import type { Kind } from '../ledger/checks.ts'
import { type Counts, countAll } from './counts.ts'
import type { Recovery } from './recovery.ts'

export interface FaultReport {
  what: string
  /** One or two of `faultNames`. */
  names: string[]
  beganAt: Date
  /** Records that the applications were behind when the fault had ended; undefined when the broker did not answer. */
  behind: number | undefined
  recovery: Recovery
  /** What ended by itself meanwhile. */
  deaths: Death[]
}

export interface LoadReport {
  seconds: number
  /** Orders begun through HTTP, and from outside. */
  http: number
  outside: number
  answers: Record<string, number>
  /** Times that the broker failed the application outside. */
  brokerFailures: number
}

export interface Report {
  /** Where and when, and how busy the machine was before anything of this was started: it decides on every figure. */
  machine: Machine
  seed: string
  rate: number
  replicas: number
  store: LocalStore
  load: LoadReport
  counts: Counts
  /** Records that were behind when nothing moved any more. */
  behind: number
  faults: FaultReport[]
  totals: Record<Kind, number>
  /** Each with the number of its ids, and what is known of the first of them. */
  findings: { finding: string; count: number; examples: Record<string, Record<string, object[]>> }[]
}

export interface Machine {
  at: Date
  processors: string
  node: string
  /** Of the last minute. */
  loadAverage: number
}

export function thisMachine(): Machine {
  const [first, ...others] = cpus()
  const processors = `${others.length + 1} x ${first?.model ?? 'unknown'}`
  return { at: new Date(), processors, node: process.version, loadAverage: loadavg()[0] ?? 0 }
}

/** Whether all went well. Without orders of both sources a run shows nothing. */
export function isClean(report: Report): boolean {
  return report.findings.length === 0 && report.behind === 0 && silentSources(report).length === 0
}

/** Where no accepted order came from. */
export function silentSources({ counts }: Pick<Report, 'counts'>): string[] {
  return ['http', 'outside'].filter((source) => !counts.orders.some((row) => row.source === source && row.accepted > 0))
}

const exampleCount = 20

export function makeReport(
  run: Pick<Report, 'machine' | 'seed' | 'rate' | 'replicas' | 'store' | 'load' | 'behind' | 'faults'>,
  book: Book,
  findings: Finding[],
): Report {
  const { machine, seed, rate, replicas, store, load, behind, faults } = run
  return {
    ...{ machine, seed, rate, replicas, store, load, counts: countAll(book), behind, faults },
    totals: totals(findings),
    findings: findings.map(({ kind, what, view, ids }) => ({
      finding: `${kind}: ${what}${view ? ` (${view})` : ''}`,
      count: ids.length,
      examples: Object.fromEntries(ids.slice(0, exampleCount).map((id) => [id, evidence(book, id)])),
    })),
  }
}
