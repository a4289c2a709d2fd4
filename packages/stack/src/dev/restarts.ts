import { get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { entryOf } from '../application/services.ts'
import { withStackLock } from '../application/stack-lock.ts'
import { CliError } from '../base/error.ts'
import type { Plan } from '../processes/plan.ts'
import { processState, startProcess, stopProcess } from '../processes/process/control.ts'
import { processSpecs } from '../processes/process/spec.ts'

/** The time for which a service may answer its open requests. A service at a breakpoint cannot end itself. */
const graceMs = 500
const lookEveryMs = 25

export type Restarts = ReturnType<typeof createRestarts>

/**
 * Creates functions to restart and to check services, which must not overlap.
 * @param names the services to check
 * @param signal ends the waiting for a service
 */
export function createRestarts(
  plan: Plan,
  names: readonly string[],
  print: (line: string) => void,
  signal: AbortSignal,
) {
  const { folder } = plan
  /** The services that have answered since their start. */
  const up = new Set(names)
  /** The services that ended, and wait for a change. */
  const ended = new Set<string>()
  const starts = new Map<string, AbortController>()

  async function awaitUp(name: string, begunAt: number): Promise<void> {
    const start = new AbortController()
    starts.set(name, start)
    const url = `http://127.0.0.1:${entryOf(plan.ports.services, name).http}/livez`
    const either = AbortSignal.any([start.signal, signal])
    while (!(await answers(url, either))) {
      if (either.aborted) return
      await delay(lookEveryMs)
    }
    up.add(name)
    print(`${name}: restarted in ${((performance.now() - begunAt) / 1000).toFixed(1)} s`)
  }

  /** Restarts services. Their sidecars continue. After a failure it prints the reason. */
  async function restart(changed: Iterable<string>): Promise<void> {
    const begunAt = performance.now()
    const restarted = [...changed]
    for (const name of restarted) {
      starts.get(name)?.abort()
      up.delete(name)
      ended.delete(name)
    }
    try {
      await withStackLock(folder, print, async () => {
        // The settings of a service may have changed.
        const specs = processSpecs(plan)
        await Promise.all(restarted.map((name) => stopProcess(folder, name, graceMs)))
        for (const name of restarted) startProcess(folder, entryOf(specs, name))
      })
    } catch (error) {
      print(`${restarted.join(', ')}: not restarted: ${(error as Error).message}`)
      return
    }
    for (const name of restarted) void awaitUp(name, begunAt)
  }

  /**
   * Checks that all services still run. Starts a killed service again. Reports a service that ended, for example because its code has an error.
   * @throws {CliError} `not-running` if another command has stopped a service
   */
  async function check(): Promise<void> {
    for (const name of names) {
      const state = processState(folder, name)
      if (state.state === 'stopped') await requireNotStopped(name)
      if (state.state !== 'crashed' || ended.has(name)) continue
      starts.get(name)?.abort()
      if (state.exit.startsWith('killed') && up.has(name)) {
        print(`${name}: ended (${state.exit}), starting it again`)
        await restart([name])
        continue
      }
      ended.add(name)
      print(`${name}: ended (${state.exit}), see its lines above; it starts again when you save one of its files`)
    }
  }

  async function requireNotStopped(name: string): Promise<void> {
    // Another command may be restarting the service. It holds the lock until then.
    const state = await withStackLock(folder, print, async () => processState(folder, name))
    if (state.state !== 'stopped') return
    throw new CliError('not-running', `another command has stopped ${name}`, { nextStep: 'make dev' })
  }

  return { restart, check }
}

/** Waits for an answer, because a service at a breakpoint answers only later. */
function answers(url: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, signal }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.once('error', () => resolve(false))
  })
}
