import { localFolder } from '../application/paths.ts'
import { entryOf, localPorts, type StackPorts, services, sidecarOf } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { readProcessTable, residentBytes } from '../base/process-table.ts'
import { colouredTable, formatDuration } from '../base/terminal.ts'
import { brokerNames } from '../kafka/broker.ts'
import type { Readiness, ServiceProbe, StackStatus } from '../runner.ts'
import { fullDiskOf, presentNames } from './logs.ts'
import { type ProcessName, processNamesWith, serversOf } from './plan.ts'
import { processState } from './process/control.ts'

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

/** Checks that one broker runs at least. @throws {CliError} `not-running` */
export function requireBroker(): void {
  const all = brokerNames(serversOf(localFolder))
  const running = all.filter((name) => processState(localFolder, name).state === 'running')
  requireUp(localFolder, running.length > 0 ? running : all)
}

export async function status(): Promise<StackStatus> {
  const rows = stackStatus(localFolder, presentNames())
  if (rows.every((row) => row.state === 'stopped')) return { lines: [], unwell: undefined, nextStep: 'make up' }
  const unwell = rows.filter(({ state }) => state !== 'running')
  const own = processNamesWith(serversOf(localFolder))
  return {
    lines: colouredTable(header, rows.map(lineOf)),
    unwell: unwell.map(({ name, state }) => `${name} (${state})`),
    nextStep: unwell.some(({ name }) => own.includes(name)) ? 'make up' : 'make observe',
  }
}

export const header = ['PROCESS', 'STATE', 'PID', 'PORT', 'MEMORY', 'UPTIME']
const colours = { running: 'green', stopped: 'dim', crashed: 'red' } as const

export const lineOf = (row: StatusRow) => ({
  colour: colours[row.state],
  cells: [
    row.name,
    row.state === 'crashed' ? `crashed: ${row.detail}` : row.state,
    row.pid?.toString() ?? '-',
    row.port?.toString() ?? '-',
    row.residentBytes === undefined ? '-' : `${Math.round(row.residentBytes / 2 ** 20)} MB`,
    row.uptimeMs === undefined ? '-' : formatDuration(row.uptimeMs),
  ],
})

const readyTimeoutMs = 5_000

export async function runningServices(): Promise<ServiceProbe[]> {
  const rows = stackStatus(
    localFolder,
    services.map(({ name }) => name),
  )
  return rows.flatMap(({ name, state, port }) =>
    state === 'running' ? [{ name, ask: () => fetchReadiness(`http://localhost:${port}/readyz`) }] : [],
  )
}

async function fetchReadiness(url: string): Promise<Readiness> {
  const response = await fetch(url, { signal: AbortSignal.timeout(readyTimeoutMs) })
  return (await response.json()) as Readiness
}
