import type { PartName } from '../parts/index.ts'
import { orderProcesses } from '../support/order-processes.ts'
import type { Chart } from './findings.ts'

/** The picture of a part: columns of its tables. */
interface Picture {
  title: string
  unit: string
  /** The columns that the picture shows. `table` is the number of the table in the section, from 0. */
  series: { column: string; table?: number; name?: string }[]
  /** The columns with the names of the bars. The default is the first column. */
  categories?: string[]
  /** The rows that the picture shows, by their first cell. The default is every row. */
  rows?: RegExp
  logarithmic?: boolean
}

const pictures: Record<PartName, Picture> = {
  post: { title: 'POST /v1/orders', unit: 'requests/s', series: [{ column: 'requests/s' }] },
  access: { title: 'POST /v1/orders, by authentication', unit: 'requests/s', series: [{ column: 'requests/s' }] },
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
  outbox: {
    title: 'From when an order is due until its event is in the log',
    unit: 'ms',
    series: [{ column: 'in the log p50' }, { column: 'in the log max' }],
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
  network: {
    title: 'Outside events until all are paid, by the round trip to PostgreSQL in ms × replicas',
    unit: 'events/s',
    series: [{ column: 'events/s' }],
    categories: ['round trip ms', 'replicas'],
    rows: /^now/,
  },
  pods: {
    title: 'Largest memory under load',
    unit: 'MiB',
    series: [
      { column: 'native, load', name: 'native sidecars' },
      { column: 'injected, load', name: 'injected sidecars' },
    ],
  },
  scaling: {
    title: 'The triggers of KEDA',
    unit: 's',
    series: [{ column: 'burst handled after s' }, { column: 'suspended: second replica after s' }],
  },
  secured: {
    title: 'Payments of outside events, by the listener of Kafka',
    unit: 'events/s',
    series: [{ column: 'events/s' }],
  },
  traces: {
    title: 'Payments of outside events, by the recorded traces',
    unit: 'events/s',
    series: [{ column: 'events paid/s' }],
  },
  metrics: {
    title: 'Processor time of the stack for an order',
    unit: 'µs',
    series: [{ column: 'µs of processor time per order: stack' }],
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
  envelope: {
    title: 'Envelopes validated on one core',
    unit: 'envelopes/s',
    series: [{ column: 'envelopes/s' }],
  },
  monitor: {
    title: 'Orders paid, without and with the event monitor',
    unit: 'orders/s',
    series: [{ column: 'orders/s', table: 1 }],
  },
}

/**
 * Returns the picture of a part. Its values come from the tables of the part's section in the document.
 * @throws {Error} if the section lacks a column
 */
export function chartOf(part: PartName, section: string): Chart {
  const { title, unit, series, categories, rows = /^/, logarithmic } = pictures[part]
  const tables = tablesIn(section)
  function rowsOf(name: string, table = 0): string[] {
    const [head = [], ...all] = tables[table] ?? []
    const index = head.indexOf(name)
    if (index < 0) throw new Error(`the section of ${part} has no column “${name}” in table ${table + 1}`)
    return all.filter(([first = '']) => rows.test(first)).map((cells) => cells[index] ?? '')
  }
  const shown = series[0]?.table ?? 0
  const names = (categories ?? [tables[shown]?.[0]?.[0] ?? '']).map((name) => rowsOf(name, shown))
  return {
    title,
    unit,
    categories: (names[0] ?? []).map((_, row) => names.map((cells) => cells[row]).join(' × ')),
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
