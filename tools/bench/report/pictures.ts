import type { PartName } from '../parts/index.ts'
import { orderProcesses } from '../support/order-processes.ts'
import type { Chart } from './findings.ts'

/** The picture of a part: columns of its tables. */
interface Picture {
  title: string
  unit: string
  /** The columns that the picture shows. `table` is the number of the table in the section, from 0. */
  series: { column: string; table?: number; name?: string }[]
  /** The rows that the picture shows, by their first cell. The default is every row. */
  rows?: RegExp
  logarithmic?: boolean
}

const pictures: Record<PartName, Picture> = {
  post: { title: 'POST /v1/orders', unit: 'requests/s', series: [{ column: 'requests/s' }] },
  outside: {
    title: 'Outside events until their payments are stored and published',
    unit: 'events/s',
    series: [{ column: 'events/s' }],
  },
  gateway: {
    title: 'Events published over HTTP, by the number of clients',
    unit: 'events/s',
    series: [{ column: 'events/s' }],
  },
  loop: {
    title: 'Orders from POST until they are Paid',
    unit: 'orders/s',
    series: [{ column: 'orders/s' }],
    rows: /^(POST|last order)/,
  },
  latency: {
    title: 'From when an order is due until it is Paid',
    unit: 'ms',
    series: [{ column: 'p50' }, { column: 'p99' }, { column: 'p999' }],
    rows: /Paid$/,
    logarithmic: true,
  },
  growth: {
    title: 'Largest resident memory, by the number and size of the events',
    unit: 'MiB',
    series: orderProcesses.map((column) => ({ column })),
  },
  key: {
    title: 'Events of one key and of different keys, decided by an entity',
    unit: 'events/s',
    series: [{ column: 'one key' }, { column: 'different keys' }],
  },
  large: {
    title: 'Largest resident memory, by the size of the records',
    unit: 'MiB',
    series: [{ column: 'payment-service' }, { column: 'sidecar' }, { column: 'Kafka' }],
  },
  replicas: {
    title: 'The longest wait of an event for its payment',
    unit: 's',
    series: [{ column: 'longest wait s' }],
  },
  compare: {
    title: 'Events until their payments are stored in PostgreSQL and published',
    unit: 'events/s',
    series: [
      { column: 'events/s', name: 'the other programs check nothing' },
      { column: 'events/s', table: 1, name: 'all check events and write dead letters' },
    ],
  },
  started: {
    title: 'Payments by programs that have just started',
    unit: 'events/s',
    series: [{ column: 'events/s' }],
  },
}

/**
 * Returns the picture of a part. Its values come from the tables of the part's section in the document.
 * @throws {Error} if the section lacks a column
 */
export function chartOf(part: PartName, section: string): Chart {
  const { title, unit, series, rows = /^/, logarithmic } = pictures[part]
  const tables = tablesIn(section)
  function rowsOf(name: string, table = 0): string[] {
    const [head = [], ...all] = tables[table] ?? []
    const index = head.indexOf(name)
    if (index < 0) throw new Error(`the section of ${part} has no column “${name}” in table ${table + 1}`)
    return all.filter(([first = '']) => rows.test(first)).map((cells) => cells[index] ?? '')
  }
  const shown = series[0]?.table ?? 0
  return {
    title,
    unit,
    categories: rowsOf(tables[shown]?.[0]?.[0] ?? '', shown),
    series: series.map(({ column, table, name = column }) => ({
      name,
      values: rowsOf(column, table).map((cell) => Number(cell.replaceAll(',', ''))),
    })),
    ...(logarithmic ? { logarithmic } : {}),
  }
}

/** Returns the tables of a Markdown text, each as rows of cells that begin with the head. */
function tablesIn(markdown: string): string[][][] {
  const cellsOf = (row: string) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
  return [...markdown.matchAll(/(?:^\|.*\|\n)+/gm)].map(([table]) => {
    const [head = '', , ...rows] = table.trim().split('\n')
    return [head, ...rows].map(cellsOf)
  })
}
