import { cpus, loadavg } from 'node:os'
import type { LocalStore } from '@orderflow/stack'
import type { Death } from '../cluster/supervisor.ts'
import { evidence, type Finding, totals } from '../ledger/audit.ts'
import type { Book } from '../ledger/book.ts'
import type { Kind } from '../ledger/checks.ts'
import type { ExpiryCounts } from '../ledger/expiries.ts'
import { type Counts, countAll } from './counts.ts'
import type { Recovery } from './recovery.ts'

export interface FaultReport {
  what: string
  /** Some of `faultNames`. */
  names: string[]
  beganAt: Date
  /** The number of unhandled records at the end of the fault, or undefined if unknown. */
  behind: number | undefined
  recovery: Recovery
  deaths: Death[]
}

export interface LoadReport {
  seconds: number
  http: number
  outside: number
  answers: Record<string, number>
  /** The number of requests of the outside publisher that failed at the broker. */
  brokerFailures: number
}

export interface Report {
  /** The machine and its load before the start, which affect every figure. */
  machine: Machine
  seed: string
  rate: number
  replicas: number
  store: LocalStore
  load: LoadReport
  counts: Counts
  /** The number of unhandled records when offsets stopped moving. */
  behind: number
  expiries: ExpiryCounts
  faults: FaultReport[]
  totals: Record<Kind, number>
  /** The number of ids of a finding, and the evidence for the first of these ids. */
  findings: { finding: string; count: number; examples: Record<string, Record<string, object[]>> }[]
}

export interface Machine {
  at: Date
  processors: string
  node: string
  loadAverage: number
}

export function thisMachine(): Machine {
  const [first, ...others] = cpus()
  const processors = `${others.length + 1} x ${first?.model ?? 'unknown'}`
  return { at: new Date(), processors, node: process.version, loadAverage: loadavg()[0] ?? 0 }
}

/** Returns true if nothing went wrong. A run proves this only with orders from both sources. */
export function isClean(report: Report): boolean {
  return report.findings.length === 0 && report.behind === 0 && silentSources(report).length === 0
}

/** Returns the sources without accepted orders. */
export function silentSources({ counts }: Pick<Report, 'counts'>): string[] {
  return ['http', 'outside'].filter((source) => !counts.orders.some((row) => row.source === source && row.accepted > 0))
}

const exampleCount = 20

export function makeReport(
  run: Pick<Report, 'machine' | 'seed' | 'rate' | 'replicas' | 'store' | 'load' | 'behind' | 'expiries' | 'faults'>,
  book: Book,
  findings: Finding[],
): Report {
  const { machine, seed, rate, replicas, store, load, behind, expiries, faults } = run
  return {
    ...{ machine, seed, rate, replicas, store, load, counts: countAll(book), behind, expiries, faults },
    totals: totals(findings),
    findings: findings.map(({ kind, what, view, ids }) => ({
      finding: `${kind}: ${what}${view ? ` (${view})` : ''}`,
      count: ids.length,
      examples: Object.fromEntries(ids.slice(0, exampleCount).map((id) => [id, evidence(book, id)])),
    })),
  }
}
