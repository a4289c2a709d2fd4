import {
  linkSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { attempt, CliError } from './error.ts'
import { isDiskFull } from './files.ts'
import { readProcessTable } from './process-table.ts'

interface Owner {
  pid: number
  startId: string
}

export const self = (): Owner => ({ pid: process.pid, startId: readProcessTable().get(process.pid)?.startId ?? '' })

/** Compares the start id, because a new process may have the same pid. */
export function isAlive(owner: Owner): boolean {
  const found = readProcessTable().get(owner.pid)
  return found !== undefined && found.startId === owner.startId
}

/**
 * Runs `work` while this process holds a lock file with its pid. Removes the lock of a dead owner. Before it waits for a live owner, it
 * calls `onWait`.
 * @throws {CliError} `busy` if the owner still runs after `timeoutMs`
 */
export async function withLock<Result>(
  file: string,
  options: { timeoutMs: number; onWait: (pid: number) => void },
  work: () => Promise<Result>,
): Promise<Result> {
  mkdirSync(dirname(file), { recursive: true })
  const deadline = Date.now() + options.timeoutMs
  let waiting = false
  while (!tryLock(file)) {
    const owner = readOwner(file)
    if (!owner || !isAlive(owner)) {
      breakLock(file)
      continue
    }
    if (Date.now() > deadline) {
      throw new CliError('busy', `process ${owner.pid} holds ${file}`, { nextStep: 'wait until it ends, or stop it' })
    }
    if (!waiting) options.onWait(owner.pid)
    waiting = true
    await sleep(100)
  }
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}

/** Creates the lock with its content in one step, so that it always has an owner. Returns false if the lock exists. */
function tryLock(file: string): boolean {
  const own = `${file}.${process.pid}`
  const owner = JSON.stringify(self())
  try {
    try {
      writeFileSync(own, owner)
      linkSync(own, file)
    } catch (error) {
      if (!isDiskFull(error)) throw error
      // Even a full disk has space for a symbolic link. `make down` and `./orderflow clean` need a lock even then.
      symlinkSync(owner, file)
    }
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  } finally {
    rmSync(own, { force: true })
  }
}

/** Returns undefined for a removed lock. A lock is a file, or a link whose target is the owner. */
const readOwner = (file: string): Owner | undefined =>
  attempt(() => JSON.parse(readFileSync(file, 'utf8'))) ?? attempt(() => JSON.parse(readlinkSync(file)))

/**
 * Removes the lock of a dead owner. Only one of several waiting processes can rename this lock. A process that has renamed a new lock by mistake
 * restores it.
 */
function breakLock(file: string): void {
  const aside = `${file}.broken.${process.pid}`
  try {
    renameSync(file, aside)
    const moved = readOwner(aside)
    if (moved && isAlive(moved)) linkSync(aside, file)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    rmSync(aside, { force: true })
  }
}
