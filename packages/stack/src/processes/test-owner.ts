import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { removeStack } from '../application/stack-record.ts'
import { attempt, CliError } from '../base/error.ts'
import { replaceFile } from '../base/files.ts'
import { isAlive, self, withLock } from '../base/lock.ts'
import { processState, recordedNames, signalGroup, stopStack } from './process/control.ts'

const ownerFile = (folder: string) => join(folder, 'run/owner.json')
/** The longest wait for another run that claims a folder, in milliseconds. */
const claimTimeoutMs = 60_000
const owned = new Set<string>()
let hooked = false

/**
 * Claims a folder for a stack that ends with this process. Stops the stacks of killed runs in this folder and in the folders next to it. Then empties
 * the folder.
 * @throws {CliError} `busy` if another live process owns the folder
 */
export async function claimFolder(folder: string): Promise<void> {
  // Only one run at a time stops processes of earlier runs.
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
  replaceFile(ownerFile(folder), JSON.stringify(self()))
  if (!hooked) installHooks()
  owned.add(folder)
}

/** Stops the folder's stack. The logs stay until the next claim of the folder. */
export async function releaseFolder(folder: string): Promise<void> {
  await emptyFolder(folder, ['run', 'data'])
  owned.delete(folder)
}

async function emptyFolder(folder: string, names = ['run', 'data', 'logs']): Promise<void> {
  await stopStack(folder, () => {})
  for (const name of names) rmSync(join(folder, name), { recursive: true, force: true })
  removeStack(folder)
}

/** Returns true if the owner of a folder ended without releasing the folder. */
export function hasDeadOwner(folder: string): boolean {
  // A failure of the machine may leave an empty file.
  const isOwnerAlive = () => attempt(() => isAlive(JSON.parse(readFileSync(ownerFile(folder), 'utf8'))))
  return existsSync(ownerFile(folder)) && !isOwnerAlive()
}

/**
 * Kills claimed stacks when this process ends, because Ctrl-C reaches only this process. Handles `exit`, too, because Mocha's handler may
 * end this process first.
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
