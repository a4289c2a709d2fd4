import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { eventually } from '@orderflow/stack/base'
import { type Plan, processSpecs } from '@orderflow/stack/internals'

/** Runs the event monitor without a sidecar, because reading and replaying need only Kafka. */
export class MonitorProcess {
  readonly url: string
  readonly #plan: Plan
  #process: ChildProcess | undefined

  constructor(plan: Plan) {
    this.#plan = plan
    this.url = `http://127.0.0.1:${plan.ports.services['event-monitor']?.http}`
  }

  launch(): void {
    const { command, args, env } = processSpecs(this.#plan)['event-monitor'] ?? { command: '', args: [], env: {} }
    const settings = { ...process.env, ...env, Log__Level: 'error' }
    this.#process = spawn(command, args, { env: settings, stdio: ['ignore', 'inherit', 'inherit'] })
  }

  async start(): Promise<void> {
    this.launch()
    await eventually(async () => {
      const { isConnected } = await this.get<{ isConnected: boolean }>('/v1/completeness').catch(() => ({
        isConnected: false,
      }))
      return isConnected
    }, 'the monitor to read the log')
  }

  async kill(): Promise<void> {
    const running = this.#process
    this.#process = undefined
    if (!running || running.exitCode !== null) return
    running.kill('SIGKILL')
    await once(running, 'exit')
  }

  async get<T>(path: string): Promise<T> {
    const response = await fetch(this.url + path)
    if (!response.ok) throw new Error(`GET ${path} returned ${response.status}: ${await response.text()}`)
    return (await response.json()) as T
  }

  async post<T>(
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: T }> {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
    const response = await fetch(this.url + path, { ...init, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as T }
  }
}
