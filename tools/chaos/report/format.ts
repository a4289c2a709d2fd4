import { markdownTable } from '@orderflow/bench/markdown'
import type { Death } from '../cluster/supervisor.ts'
import type { Recovery } from './recovery.ts'
import { type Report, silentSources } from './report.ts'

/** The goal for recovery: events flow again within this time after the restart of killed processes. */
const goalMs = 5_000

/** Returns the report as text. */
export function formatReport(report: Report): string {
  return [loadText(report), faultTable(report), countTables(report), verdictText(report)].join('\n')
}

const table = (head: string[], rows: string[][]) => `${markdownTable({ head, rows })}\n`

const perSecond = (count: number, seconds: number) => `${count} (${(count / seconds).toFixed(0)}/s)`

function loadText({ machine, rate, seed, replicas, store, load }: Report): string {
  const answers = Object.entries(load.answers).map(([answer, count]) => `${answer}: ${count}`)
  const { at, processors, node, loadAverage } = machine
  return [
    `${at.toISOString()}, ${processors}, Node ${node}, load average ${loadAverage.toFixed(1)} before`,
    `seed ${seed}, ${rate} + ${rate} orders/s planned for ${load.seconds.toFixed(0)} s, ${replicas} of each service, store ${store}`,
    `placed through HTTP: ${perSecond(load.http, load.seconds)}, from outside: ${perSecond(load.outside, load.seconds)}`,
    `answers: ${answers.join(', ')}; failed requests of the outside publisher: ${load.brokerFailures}`,
    '',
  ].join('\n')
}

function faultTable({ faults }: Report): string {
  const seconds = (ms: number | undefined) => (ms === undefined ? 'never' : (ms / 1_000).toFixed(1))
  const rows = faults.map(({ what, behind, recovery, deaths }) => [
    what,
    String(behind ?? '?'),
    seconds(recovery.accepted),
    seconds(recovery.paid),
    seconds(recovery.outsidePaid),
    isWithinGoal(recovery) ? 'yes' : 'no',
    deathText(deaths),
  ])
  const head = [
    'fault',
    'behind',
    'accepted, s',
    'paid, s',
    'outside paid, s',
    `within ${goalMs / 1_000} s`,
    'unexpected exits',
  ]
  return table(head, rows)
}

function deathText(deaths: Death[]): string {
  const counts = Object.groupBy(deaths, ({ member, exit }) => `${member} (${exit})`)
  const texts = Object.entries(counts).map(([death, { length } = []]) => (length > 1 ? `${length} x ${death}` : death))
  return texts.join(', ')
}

function isWithinGoal({ accepted, paid, outsidePaid }: Recovery): boolean {
  return [accepted, paid, outsidePaid].every((ms) => ms !== undefined && ms <= goalMs)
}

function countTables({ counts, expiries }: Report): string {
  const text = (...cells: (string | number)[]) => cells.map(String)
  const { asked, accepted, refunded } = counts.cancellations
  return [
    table(
      ['orders', 'attempted', 'accepted', 'in the log', 'stored', 'paid'],
      counts.orders.map((row) => text(row.source, row.attempted, row.accepted, row.inLog, row.stored, row.paid)),
    ),
    `cancellations: ${asked} requested, ${accepted} accepted; refunds: ${refunded}`,
    `expired: ${expiries.expired}; ${expiries.calm} of them after all faults, up to ${(expiries.mostLateMs / 1_000).toFixed(1)} s late\n`,
    table(
      ['event', 'records', 'orders'],
      counts.events.map(({ name, records, orders }) => text(name, records, orders)),
    ),
    `poison: ${counts.poison.attempted} sent, ${counts.poison.inLog} records in the log\n`,
    table(
      ['dead letters', 'reason', 'records', 'ids'],
      counts.deadLetters.map((row) => text(`${row.app}, ${row.topic}`, row.reason, row.records, row.ids)),
    ),
  ].join('\n')
}

function verdictText(report: Report): string {
  const { totals, findings, behind } = report
  const { lost, duplicated, stuck, wrong } = totals
  return [
    ...findings.map(
      ({ finding, count, examples }) => `${count} ${finding}: ${Object.keys(examples).slice(0, 3).join(', ')}`,
    ),
    ...(behind > 0 ? [`${behind} records were still unhandled when offsets stopped moving`] : []),
    ...silentSources(report).map((source) => `no order from ${source} was accepted`),
    `lost ${lost}, duplicated ${duplicated}, stuck ${stuck}, wrong ${wrong}`,
  ].join('\n')
}
