import type { Goal, Table } from './findings.ts'

export function markdownTable({ head, rows }: Pick<Table, 'head' | 'rows'>): string {
  const widths = head.map((_, column) =>
    [head, ...rows].reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 3),
  )
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)
  const line = (row: string[]) => `| ${row.map(cell).join(' | ')} |`
  const rule = `| ${widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

/** Returns the tables under their titles, and the missed goals at the end. */
export function markdownOf({ tables, goals }: { tables: Table[]; goals: Goal[] }): string {
  const texts = tables.map((table) => `${table.title}:\n\n${markdownTable(table)}\n`)
  const missed = goals.filter(({ reached }) => !reached)
  if (missed.length > 0) {
    const list = missed.map(({ what, goal, measured }) => `${what} ${goal} (${measured})`)
    texts.push(`Missed goals:\n\n${list.map((goal) => `- ${goal}\n`).join('')}`)
  }
  return texts.join('\n')
}
