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

function goalsTable(goals: Goal[]): Table {
  return {
    title: 'Goals',
    head: ['goal', 'is', 'measured', 'reached'],
    rows: goals.map(({ what, goal, measured, reached }) => [what, goal, measured, reached ? 'yes' : 'no']),
  }
}

/** Returns the tables under their titles, and the goals at the end. */
export function markdownOf({ tables, goals }: { tables: Table[]; goals: Goal[] }): string {
  const all = goals.length > 0 ? [...tables, goalsTable(goals)] : tables
  return all.map((table) => `${table.title}:\n\n${markdownTable(table)}\n`).join('\n')
}
