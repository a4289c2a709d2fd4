import { partitions } from '@orderflow/stack/internals'
import { type Findings, number, type Table } from '../report/findings.ts'
import { median } from '../report/statistics.ts'
import type { Cell } from './payments.ts'
import type { Bytes, StoreFigures } from './site.ts'

/** The figures that the model of tools/forecast reads. */
export interface Capacity {
  partitions: number
  cores: number
  payments: Cell[]
  orders: Cell[]
  times: StoreFigures
  bytes: Bytes
}

export function findingsOf(capacity: Capacity): Findings {
  const { payments, orders } = capacity
  return {
    tables: [
      tableOf(`Payments of outside events, ${partitions.containers} partitions, PostgreSQL, medians`, payments),
      tableOf('Orders from POST to Paid, one replica of each service, medians', orders),
    ],
    goals: [],
    figures: capacity,
  }
}

function tableOf(title: string, cells: Cell[]): Table {
  const rows = Map.groupBy(cells, ({ load, replicas }) => `${load} × ${replicas}`)
  const names = [...new Set(cells.flatMap(({ used }) => Object.keys(used)))].filter((name) =>
    cells.some(({ used }) => (used[name] ?? 0) > 0),
  )
  return {
    title,
    head: ['load × replicas', 'per second', 'processors busy', ...names.map((name) => `${name}, µs each`)],
    rows: [...rows].map(([name, all]) => {
      const middle = (of: (cell: Cell) => number) => median(all.map(of))
      return [
        name,
        number(middle(({ perSecond }) => perSecond)),
        number(
          middle(({ busy }) => busy),
          2,
        ),
        ...names.map((process) => number(middle(({ used, events }) => ((used[process] ?? 0) * 1_000) / events))),
      ]
    }),
  }
}
