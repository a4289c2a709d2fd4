import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { programFile, repository } from '../application/paths.ts'
import { entryOf } from '../application/services.ts'
import { withStackLock } from '../application/stack-record.ts'
import { CliError, succeeds } from '../base/error.ts'
import { runTool } from '../base/run-tool.ts'
import type { Plan } from '../processes/plan.ts'
import { processState, startProcess, stopProcess } from '../processes/process/control.ts'
import { processSpecs } from '../processes/process/spec.ts'
import type { Changes } from './changes.ts'

/** The time for which a service may answer its open requests. A service at a breakpoint cannot end itself. */
const graceMs = 500
const lookEveryMs = 25

type Restarts = ReturnType<typeof createRestarts>

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

/** Returns functions that handle changes and check services, one after the other. */
export function createHandler(restarts: Restarts, print: (line: string) => void, signal: AbortSignal) {
  const before = stackOf(readApplication())
  let last: Promise<void> = Promise.resolve()
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const ended = last.then(work)
    last = ended.catch(() => {})
    return ended
  }

  async function handle({ restarts: names, needsTypes, needsApplication }: Changes): Promise<void> {
    if (needsApplication && !isDeepStrictEqual(stackOf(readApplication()), before)) {
      print(
        'services.json: the stack must change, too. End make dev with Ctrl-C, run make generate, make down and make dev',
      )
      return
    }
    if (!needsTypes || (await generates())) await restarts.restart(names)
  }

  /** Runs `make generate`. Returns false if a schema or services.json is invalid. */
  async function generates(): Promise<boolean> {
    // A new process, because this process has read the old schemas.
    const ended = runTool(process.execPath, [programFile('#generate')], {
      cwd: repository,
      onLine: print,
      signal,
    })
    const isGenerated = await succeeds(ended)
    if (!isGenerated && !signal.aborted) print('nothing is restarted: correct the error above, and save the file again')
    return isGenerated
  }

  return {
    changes: (changes: Changes) =>
      void inTurn(() => handle(changes)).catch((error: Error) => {
        if (!signal.aborted) print(`nothing is restarted: services.json: ${error.message}`)
      }),
    /** @throws {CliError} `not-running` if another command has stopped a service */
    check: () => inTurn(restarts.check),
  }
}

/** @throws {SyntaxError} */
function readApplication(): Record<string, unknown> {
  return JSON.parse(readFileSync(join(repository, 'services.json'), 'utf8')) as Record<string, unknown>
}

/** Returns the fields that determine processes, ports and topics. A restart is enough for a change of the others. */
function stackOf({
  reactions: _,
  objective: __,
  demo: ___,
  settings: ____,
  ...stack
}: Record<string, unknown>): Record<string, unknown> {
  return stack
}
