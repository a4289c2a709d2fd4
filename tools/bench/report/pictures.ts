import type { PartName } from '../parts/index.ts'
import { orderProcesses } from '../support/bench-stack.ts'
import type { Chart } from './findings.ts'

/** The picture of a part: columns of its first table, whose first column has the names of the bars. */
interface Picture {
  title: string
  unit: string
  /** The columns that the picture shows. */
  series: { column: string; name?: string }[]
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
  deadlines: {
    title: 'Payments, and deadlines that are armed, fired and decided',
    unit: 'per second',
    series: [{ column: 'payments' }, { column: 'armed' }, { column: 'fired' }, { column: 'decided' }],
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
      { column: 'validating: events/s', name: 'all check events and write dead letters' },
    ],
  },
}

/**
 * Returns the picture of a part. Its values come from the first table of the part's section in the document.
 * @throws {Error} if the table lacks a column
 */
export function chartOf(part: PartName, section: string): Chart {
  const { title, unit, series, rows = /^/, logarithmic } = pictures[part]
  const [head = [], ...all] = firstTableIn(section)
  const shown = all.filter(([first = '']) => rows.test(first))
  function valuesOf(column: string): number[] {
    const index = head.indexOf(column)
    if (index < 0) throw new Error(`the first table of ${part} has no column “${column}”`)
    return shown.map((cells) => Number(cells[index]?.replaceAll(',', '')))
  }
  return {
    title,
    unit,
    categories: shown.map(([first = '']) => first),
    series: series.map(({ column, name = column }) => ({ name, values: valuesOf(column) })),
    ...(logarithmic ? { logarithmic } : {}),
  }
}

/** Returns the first table of a Markdown text as rows of cells, which begin with the head. */
function firstTableIn(markdown: string): string[][] {
  const [table = ''] = /(?:^\|.*\|\n)+/m.exec(markdown) ?? []
  const [head = '', , ...rows] = table.trim().split('\n')
  return [head, ...rows].map((row) => {
    const cells = row.split('|').slice(1, -1)
    return cells.map((cell) => cell.trim())
  })
}
