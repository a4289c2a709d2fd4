import { partitions } from '@orderflow/stack/internals'
import { atLeast, atMost, type Findings, type Goal, number } from '../report/findings.ts'
import { median } from '../report/statistics.ts'
import { type OrderCell, steadyRate } from './orders.ts'
import type { Cell, Started } from './payments.ts'

export const names = { now: 'now', before: 'before', sqlite: 'SQLite' } as const

export interface Measured {
  store: string
  /** Maps the round trip to the duration of a query, both in milliseconds. */
  pings: Map<number, number>
  started: Started[]
  orders: OrderCell[]
}

interface Row {
  variant: string
  roundTrip: number
  replicas: number
  cells: Cell[]
}

export function findingsOf(measured: Measured): Findings {
  const rows = rowsOf(measured.started.flatMap(({ cells }) => cells))
  const seen = (roundTrip: number) => number(measured.pings.get(roundTrip) ?? Number.NaN, 1)
  const middle = ({ cells }: Row, of: (cell: Cell) => number) => median(cells.map(of))
  const rate = (row: Row) => middle(row, ({ perSecond }) => perSecond)
  return {
    tables: [
      {
        title: `Payments of outside events, ${partitions.containers} partitions, ${measured.store}, medians`,
        head: ['', 'round trip ms', 'as seen', 'replicas', 'events/s', 'processors busy', 'slowest', 'fastest'],
        rows: rows.map((row) => [
          row.variant,
          number(row.roundTrip),
          row.variant === names.sqlite ? '-' : seen(row.roundTrip),
          number(row.replicas),
          number(rate(row)),
          number(
            middle(row, ({ busy }) => busy),
            2,
          ),
          number(row.cells.reduce((least, { perSecond }) => Math.min(least, perSecond), Infinity)),
          number(row.cells.reduce((most, { perSecond }) => Math.max(most, perSecond), -Infinity)),
        ]),
      },
      ...(measured.orders.length > 0 ? [ordersTable(measured.orders, seen)] : []),
      {
        title: 'Outcome of all events. Repeated announcements have the same ids and no effect',
        head: ['', 'events', 'not stored', 'stored twice', 'not announced', 'in two versions', 'announced again'],
        rows: [...new Set(rows.map(({ variant }) => variant))].map((variant) => fateOf(measured.started, variant)),
      },
    ],
    goals: goalsOf(measured, rows),
    figures: { ...measured, pings: [...measured.pings] },
  }
}

function rowsOf(cells: Cell[]): Row[] {
  const rows = new Map<string, Row>()
  for (const cell of cells) {
    const { variant, roundTrip, replicas } = cell
    const id = `${variant} ${roundTrip} ${replicas}`
    const row = rows.get(id) ?? { variant, roundTrip, replicas, cells: [] }
    row.cells.push(cell)
    rows.set(id, row)
  }
  const order: string[] = Object.values(names)
  return [...rows.values()].sort(
    (a, b) =>
      order.indexOf(a.variant) - order.indexOf(b.variant) || a.roundTrip - b.roundTrip || a.replicas - b.replicas,
  )
}

function ordersTable(orders: OrderCell[], seen: (roundTrip: number) => string) {
  const roundTrips = [...new Set(orders.map(({ roundTrip }) => roundTrip))]
  return {
    title: `Orders, ${partitions.processes} partitions, one replica of each service, medians; to Paid: from when an order is due, at ${steadyRate} orders/s`,
    head: [
      'round trip ms',
      'as seen',
      'POST/s',
      'processors busy',
      'whole loop/s',
      'to Paid p50 ms',
      'p99 ms',
      'failed',
    ],
    rows: roundTrips.map((roundTrip) => {
      const middle = (of: (cell: OrderCell) => number) => middleOf(orders, roundTrip, of)
      return [
        number(roundTrip),
        seen(roundTrip),
        number(middle(({ postPerSecond }) => postPerSecond)),
        number(
          middle(({ postBusy }) => postBusy),
          2,
        ),
        number(middle(({ loopPerSecond }) => loopPerSecond)),
        number(middle(({ paidP50 }) => paidP50)),
        number(middle(({ paidP99 }) => paidP99)),
        number(orders.reduce((sum, cell) => sum + (cell.roundTrip === roundTrip ? cell.failed : 0), 0)),
      ]
    }),
  }
}

const middleOf = (orders: OrderCell[], roundTrip: number, of: (cell: OrderCell) => number) =>
  median(orders.filter((cell) => cell.roundTrip === roundTrip).map(of))

function fateOf(started: Started[], variant: string): string[] {
  const fates = started.filter(({ cells }) => cells[0]?.variant === variant).map(({ aftermath }) => aftermath)
  const sum = (of: (fate: Started['aftermath']) => number) => number(fates.reduce((total, fate) => total + of(fate), 0))
  return [
    variant,
    sum(({ stored }) => stored.expected),
    sum(({ stored }) => stored.lost),
    sum(({ stored }) => stored.repeated + stored.unknown),
    sum(({ announced }) => announced.lost),
    sum(({ versions }) => versions),
    sum(({ announced }) => announced.repeated),
  ]
}

function goalsOf({ started, orders }: Measured, rows: Row[]): Goal[] {
  const rate = (variant: string, roundTrip: number, replicas: number) =>
    median(
      rows
        .filter((row) => row.variant === variant && row.roundTrip === roundTrip && row.replicas === replicas)
        .flatMap(({ cells }) => cells.map(({ perSecond }) => perSecond)),
    )
  const ofOrders = (roundTrip: number, of: (cell: OrderCell) => number) => middleOf(orders, roundTrip, of)
  const now = started.filter(({ cells }) => cells[0]?.variant !== names.before).map(({ aftermath }) => aftermath)
  const wrong = now.reduce(
    (sum, { stored, announced, versions }) =>
      sum + stored.lost + stored.repeated + stored.unknown + announced.lost + announced.unknown + versions,
    0,
  )
  const post = (roundTrip: number) => ofOrders(roundTrip, ({ postPerSecond }) => postPerSecond)
  const goals = [
    atLeast('events/s at 2 ms, one replica', rate(names.now, 2, 1), 2_000),
    atLeast('events/s at 10 ms, one replica', rate(names.now, 10, 1), 1_000),
    ...[2, 10].map((roundTrip) =>
      atLeast(
        `events/s, now / before, at ${roundTrip} ms, one replica`,
        rate(names.now, roundTrip, 1) / rate(names.before, roundTrip, 1),
        0.95,
        2,
      ),
    ),
    atLeast('POST/s, at 2 ms / at 0 ms', post(2) / post(0), 0.6, 2),
    atMost(
      `p99 to Paid at ${steadyRate}/s and 2 ms, ms`,
      ofOrders(2, ({ paidP99 }) => paidP99),
      400,
    ),
    atMost('events lost, doubled or in two versions', wrong, 0),
  ]
  return goals.filter(({ measured }) => measured !== '-')
}
