import { make } from './make.ts'
import { commands, type Part, printed } from './system.ts'

export interface RunningStack {
  runner: 'processes' | 'containers' | 'pods'
  /** Maps the name of each part to its columns in `make status`. */
  parts: Map<string, string[]>
}

/** @throws {Error} if order-service does not run; the error suggests `make up` */
export async function readStack(): Promise<RunningStack> {
  const output = await make(commands.status).catch((error: Error) => error.message)
  const rows = output.split('\n').map((line) => line.trim().split(/\s{2,}/))
  const parts = new Map(rows.map(([name = '', ...columns]) => [name, columns]))
  const isUp = (name: Part) => printed.isRunning(parts.get(name) ?? [])
  if (printed.processes.test(output) && isUp('order-service')) return { runner: 'processes', parts }
  if (printed.containers.test(output) && isUp('order-service')) return { runner: 'containers', parts }
  const isPodUp = ([name, columns]: [string, string[]]) =>
    printed.isPodOf('order-service', name) && printed.isPodRunning(columns)
  if (printed.pods.test(output) && [...parts].some(isPodUp)) return { runner: 'pods', parts }
  throw new Error(`These tests need a running stack, so run make up first. Its status is now:\n${output}`)
}

// Every test file imports this module. So this check runs once, before the first test.
before(readStack)
