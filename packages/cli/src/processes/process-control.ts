import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../lib/paths.ts'
import { poll } from '../lib/poll.ts'
import { inheritedEnvironment } from './environment.ts'
import { logFile } from './plan.ts'
import type { ProcessSpec } from './process-spec.ts'
import { exitFile, isGroupAlive, processState, removeRecord, writeRecord } from './run-record.ts'

const launcher = join(repository, 'packages/cli/launch')

/** Starts a process in a group of its own that outlives us, its output appended to its log. Returns the group's id. */
export function startProcess(folder: string, spec: ProcessSpec): number {
  for (const name of ['logs', 'run']) mkdirSync(join(folder, name), { recursive: true })
  rmSync(exitFile(folder, spec.name), { force: true })
  const log = openSync(logFile(folder, spec.name), 'a')
  const child = spawn(launcher, [exitFile(folder, spec.name), spec.command, ...spec.args], {
    cwd: repository,
    env: { ...inheritedEnvironment(process.env), ...spec.env },
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.unref()
  if (child.pid === undefined) throw new Error(`cannot run ${launcher}`)
  try {
    writeRecord(folder, spec.name, child.pid)
  } catch (error) {
    // Without a record no command could ever stop it.
    signalGroup(child.pid, 'SIGKILL')
    throw error
  }
  return child.pid
}

/** To PostgreSQL SIGTERM means to wait until its last client has gone. Jaeger keeps nothing, and takes 18 seconds to end in order. */
const stopSignals: Record<string, NodeJS.Signals> = { postgresql: 'SIGINT', jaeger: 'SIGKILL' }
const stopSignalOf = (name: string) => stopSignals[name] ?? 'SIGTERM'

/**
 * Ends a process we started: SIGTERM (or what means the same to it), after `graceMs` SIGKILL, and returns when its whole group is gone.
 * Does nothing when it does not run; a pid that now belongs to someone else is left alone.
 */
export async function stopProcess(folder: string, name: string, graceMs: number): Promise<boolean> {
  const state = processState(folder, name)
  if (state.state === 'running') {
    signalGroup(state.group, stopSignalOf(name))
    if (!(await groupEnds(state.group, graceMs))) {
      signalGroup(state.group, 'SIGKILL')
      if (!(await groupEnds(state.group, 5_000))) throw new Error(`${name} (pid ${state.pid}) survives SIGKILL`)
    }
  }
  removeRecord(folder, name)
  return state.state === 'running'
}

/** Sends a signal to a group; one that is gone already is fine. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Waits until a group has no live member; false when it still has after `timeoutMs`. */
export async function groupEnds(group: number, timeoutMs: number): Promise<boolean> {
  return (await poll(() => !isGroupAlive(group), { timeoutMs })) ?? false
}
