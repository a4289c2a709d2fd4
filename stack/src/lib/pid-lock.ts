import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StackError } from './error.ts'
import { readProcessTable } from './process-table.ts'

interface Owner {
  pid: number
  startId: string
}

/** This process, as lock and pid files name it. */
export function self(): Owner {
  return { pid: process.pid, startId: readProcessTable().get(process.pid)?.startId ?? '' }
}

/** True while the process that wrote `owner` lives; a later process with the same pid does not count. */
export function isAlive(owner: Owner): boolean {
  return readProcessTable().get(owner.pid)?.startId === owner.startId
}

/**
 * Runs `work` while holding the lock file, which names its owner's pid. A lock whose owner died is broken; a live
 * owner is waited for, after one call of `onWait`.
 * @throws {StackError} `busy` when the owner still lives after `timeoutMs`
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
      throw new StackError('busy', `process ${owner.pid} holds ${file}`, { nextStep: 'wait until it ends, or stop it' })
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

/** A link is created with its content in one step: nobody ever sees a lock without an owner. */
function tryLock(file: string): boolean {
  const own = `${file}.${process.pid}`
  writeFileSync(own, JSON.stringify(self()))
  try {
    linkSync(own, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  } finally {
    rmSync(own, { force: true })
  }
}

function readOwner(file: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Owner
  } catch {
    return undefined
  }
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
