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
import { CliError } from './error.ts'
import { isDiskFull } from './files.ts'
import { readProcessTable } from './process-table.ts'

interface Owner {
  pid: number
  startId: string
}

/** This process, as lock and pid files name it. */
export function self(): Owner {
  return { pid: process.pid, startId: readProcessTable().get(process.pid)?.startId ?? '' }
}

/** Returns whether the process that wrote `owner` lives. A later process with the same pid is another one. */
export function isAlive(owner: Owner): boolean {
  return readProcessTable().get(owner.pid)?.startId === owner.startId
}

/**
 * Runs `work` while holding the lock file, which names its owner's pid. A lock whose owner died is broken; a live
 * owner is waited for, after one call of `onWait`.
 * @throws {CliError} `busy` when the owner still lives after `timeoutMs`
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

/** Creates the lock with its content in one step, so that every lock has an owner. */
function tryLock(file: string): boolean {
  const own = `${file}.${process.pid}`
  const owner = JSON.stringify(self())
  return create(() => {
    try {
      writeFileSync(own, owner)
      linkSync(own, file)
    } catch (error) {
      if (!isDiskFull(error)) throw error
      // A symbolic link needs no block of the disk: commands that make room, such as make down and ./orderflow clean, must run on a full one.
      symlinkSync(owner, file)
    } finally {
      rmSync(own, { force: true })
    }
  })
}

/** Returns false when the lock exists. */
function create(work: () => void): boolean {
  try {
    work()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

function readOwner(file: string): Owner | undefined {
  for (const read of [() => readFileSync(file, 'utf8'), () => readlinkSync(file)]) {
    try {
      return JSON.parse(read()) as Owner
    } catch {
      // The other form, or no lock any more.
    }
  }
  return undefined
}

/** Moves the dead lock aside first: of several waiters only one can, and one that moved a fresh lock puts it back. */
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
