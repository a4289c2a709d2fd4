import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CliError } from '../lib/error.ts'
import { isAlive, self, withLock } from '../lib/lock.ts'
import { processState, recordedNames, signalGroup, stopStack } from './process-control.ts'

const ownerFile = (folder: string) => join(folder, 'run/owner.json')
/** Stopping what was left takes at most this. */
const claimTimeoutMs = 60_000
const owned = new Set<string>()
let hooked = false

/**
 * Makes a folder this process's own for a stack that must not outlive it: stops what a killed run left there and in the
 * folders beside it, empties it, and has its processes killed when this process ends.
 * @throws {CliError} `busy` when another live process owns it
 */
export async function claimFolder(folder: string): Promise<void> {
  // One run at a time clears away what is left there.
  const lock = join(dirname(folder), 'claim.lock')
  await withLock(lock, { timeoutMs: claimTimeoutMs, onWait: () => {} }, () => claim(folder))
}

async function claim(folder: string): Promise<void> {
  const parent = dirname(folder)
  const beside = readdirSync(parent).map((name) => join(parent, name))
  for (const other of beside.filter((path) => path !== folder && hasDeadOwner(path))) await emptyFolder(other)
  if (existsSync(ownerFile(folder)) && !hasDeadOwner(folder) && !owned.has(folder)) {
    throw new CliError('busy', `another test run uses ${folder}`, { nextStep: 'wait until it ends' })
  }
  await emptyFolder(folder)
  mkdirSync(join(folder, 'run'), { recursive: true })
  writeFileSync(ownerFile(folder), JSON.stringify(self()))
  if (!hooked) installHooks()
  owned.add(folder)
}

/** Stops a claimed stack and gives the folder back; its logs stay until the next claim. */
export async function releaseFolder(folder: string): Promise<void> {
  await stopStack(folder, () => {})
  for (const name of ['run', 'data']) rmSync(join(folder, name), { recursive: true, force: true })
  owned.delete(folder)
}

async function emptyFolder(folder: string): Promise<void> {
  await stopStack(folder, () => {})
  for (const name of ['run', 'data', 'logs']) rmSync(join(folder, name), { recursive: true, force: true })
}

/** Returns whether the process that claimed the folder has ended without releasing it. */
export function hasDeadOwner(folder: string): boolean {
  try {
    return !isAlive(JSON.parse(readFileSync(ownerFile(folder), 'utf8')))
  } catch {
    return false
  }
}

/**
 * Ctrl-C reaches us only: our processes have groups of their own. Mocha's own handler may end us before, hence `exit`.
 */
function installHooks(): void {
  hooked = true
  process.on('exit', killOwned)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      killOwned()
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
    })
  }
}

function killOwned(): void {
  for (const folder of owned) {
    for (const name of recordedNames(folder)) {
      const state = processState(folder, name)
      if (state.state === 'running') signalGroup(state.group, 'SIGKILL')
    }
  }
}
