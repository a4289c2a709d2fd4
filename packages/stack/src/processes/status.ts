import { table } from '@orderflow/service-kit/terminal'
import { CliError } from '../lib/error.ts'
import { localPorts, type StackPorts } from '../lib/ports.ts'
import { readProcessTable, residentBytes } from '../lib/process-table.ts'
import { entryOf, services, sidecarOf } from '../lib/services.ts'
import { formatDuration } from '../lib/terminal.ts'
import { fullDiskOf } from './logs.ts'
import { type ProcessName, processNamesWith, serversOf } from './plan.ts'
import { processState } from './process-control.ts'

interface StatusRow {
  name: ProcessName
  state: 'running' | 'stopped' | 'crashed'
  detail: string
  /** The main port. Undefined for an observer. */
  port: number | undefined
  pid?: number
  residentBytes?: number
  uptimeMs?: number
}

function mainPorts(ports: StackPorts): Record<ProcessName, number> {
  const others = services.flatMap((service) => {
    const { http, daprHttp } = entryOf(ports.services, service.name)
    return [
      [service.name, http],
      [sidecarOf(service), daprHttp],
    ]
  })
  const { kafka, postgresql, jaeger, exporter, prometheus } = ports
  const moreBrokers = Object.entries(ports.moreBrokers).map(([name, { broker }]) => [name, broker])
  return { kafka, postgresql, jaeger, exporter, prometheus, ...Object.fromEntries([...moreBrokers, ...others]) }
}

/** Returns the state of processes, by default of all processes of `make up`. */
export function stackStatus(folder: string, names = processNamesWith(serversOf(folder))): StatusRow[] {
  const table = readProcessTable()
  const ports = mainPorts(localPorts())
  return names.map((name) => {
    const state = processState(folder, name, table)
    const row = { name, state: state.state, detail: '', port: ports[name] }
    if (state.state === 'crashed') return { ...row, detail: endingOf(folder, name, state.exit) }
    if (state.state === 'stopped') return row
    const { pid, startedAt } = state
    const uptime = startedAt === undefined ? {} : { uptimeMs: Date.now() - startedAt }
    return { ...row, pid, residentBytes: residentBytes(pid), ...uptime }
  })
}

function endingOf(folder: string, name: ProcessName, exit: string): string {
  const disk = fullDiskOf(folder, name)
  if (disk) return `${exit}: no space left on the disk of ${disk}; free some space, then run make up`
  return `${exit}; see make logs SERVICE=${name}`
}

/** @throws {CliError} `not-running` with the names of stopped parts of `make up` */
export function requireUp(folder: string, parts?: readonly string[]): void {
  const rows = stackStatus(folder).filter((row) => parts?.includes(row.name) ?? true)
  const down = rows.filter(({ state }) => state !== 'running')
  if (down.length === 0) return
  const names = down.map((row) => row.name).join(', ')
  const message =
    down.length === rows.length ? 'the stack is not running' : `some parts of the stack are not running: ${names}`
  throw new CliError('not-running', message, { nextStep: 'make up' })
}

export function formatStatus(rows: StatusRow[]): string[] {
  const cells = rows.map((row) => [
    row.name,
    row.state === 'crashed' ? `crashed: ${row.detail}` : row.state,
    row.pid?.toString() ?? '-',
    row.port?.toString() ?? '-',
    row.residentBytes === undefined ? '-' : `${Math.round(row.residentBytes / 2 ** 20)} MB`,
    row.uptimeMs === undefined ? '-' : formatDuration(row.uptimeMs),
  ])
  return table([['PROCESS', 'STATE', 'PID', 'PORT', 'MEMORY', 'UPTIME'], ...cells])
}
