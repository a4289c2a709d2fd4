import { StackError } from '../lib/error.ts'
import { readProcessTable, residentBytes } from '../lib/process-table.ts'
import { type ProcessName, processNames } from './plan.ts'
import { defaultPorts } from './ports.ts'
import { processState } from './run-record.ts'

export interface StatusRow {
  name: ProcessName
  state: 'running' | 'stopped' | 'crashed'
  /** For a crash: how it ended. */
  detail: string
  port: number
  pid?: number
  residentBytes?: number
  uptimeMs?: number
}

/** The port by which each process is known. */
const mainPorts: Record<ProcessName, number> = {
  kafka: defaultPorts.kafka,
  'order-service': defaultPorts.order.http,
  'order-sidecar': defaultPorts.order.daprHttp,
  'payment-service': defaultPorts.payment.http,
  'payment-sidecar': defaultPorts.payment.daprHttp,
}

/** How each process of the stack of `make up` is doing. */
export function stackStatus(folder: string): StatusRow[] {
  const table = readProcessTable()
  return processNames.map((name) => {
    const state = processState(folder, name, table)
    const row = { name, state: state.state, detail: '', port: mainPorts[name] }
    if (state.state === 'crashed') return { ...row, detail: `${state.exit}; see make logs SERVICE=${name}` }
    if (state.state === 'stopped') return row
    const { pid, startedAt } = state
    return { ...row, pid, residentBytes: residentBytes(pid), uptimeMs: Date.now() - startedAt }
  })
}

/** True when every process runs. */
export function isUp(rows: StatusRow[]): boolean {
  return rows.every((row) => row.state === 'running')
}

/** @throws {StackError} `not-running` naming what does not run of these parts of the stack of `make up` */
export function requireUp(folder: string, parts: readonly string[] = processNames): void {
  const down = stackStatus(folder).filter((row) => parts.includes(row.name) && row.state !== 'running')
  if (down.length === 0) return
  const names = down.map((row) => row.name).join(', ')
  const message =
    down.length === parts.length ? 'the stack is not running' : `not all of the stack is running: ${names}`
  throw new StackError('not-running', message, { nextStep: 'make up' })
}

/** The rows as a table, a line each, without colours. */
export function formatStatus(rows: StatusRow[]): string[] {
  const cells = rows.map((row) => [
    row.name,
    row.state === 'crashed' ? `crashed: ${row.detail}` : row.state,
    row.pid?.toString() ?? '-',
    row.port.toString(),
    row.residentBytes === undefined ? '-' : `${Math.round(row.residentBytes / 2 ** 20)} MB`,
    row.uptimeMs === undefined ? '-' : formatDuration(row.uptimeMs),
  ])
  return formatTable([['PROCESS', 'STATE', 'PID', 'PORT', 'MEMORY', 'UPTIME'], ...cells])
}

/** Columns as wide as their widest cell; the first row is the header. */
export function formatTable(table: string[][]): string[] {
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0)))
  return table.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** 45 s, 3 min 20 s, 5 h 12 min, 2 d 3 h. */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const units: [number, string][] = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
    [1, 's'],
  ]
  const first = units.findIndex(([size]) => seconds >= size)
  if (first < 0) return '0 s'
  let rest = seconds
  const parts = units.slice(first, first + 2).map(([size, unit]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count > 0 ? `${count} ${unit}` : ''
  })
  return parts.filter(Boolean).join(' ')
}
