import {
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { CliError } from './error.ts'

/**
 * Writes a file atomically. Readers always find the old or the new content. A private file gets a private folder, and is safe even if the machine
 * fails. The next call for the folder removes temporary files of killed processes.
 * @param mode the file's permissions, such as 0o600
 * @throws {CliError} `disk-full`
 */
export function replaceFile(file: string, text: string, mode?: number): void {
  // Keeps a symbolic link and writes its target.
  const target = existsSync(file) ? realpathSync(file) : file
  const temporary = `${target}.${process.pid}.new`
  const isPrivate = mode === 0o600
  try {
    mkdirSync(dirname(target), { recursive: true, mode: isPrivate ? 0o700 : undefined })
    removeUnfinished(dirname(target))
    writeFileSync(temporary, text, { mode, flush: isPrivate })
    renameSync(temporary, target)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw isDiskFull(error) ? diskFullError(file, error) : error
  }
}

/** The age from which a temporary file is left over, because no write takes so long. */
const longestWriteMs = 60_000

/** Removes the temporary files of killed processes from a folder. They may have secrets. */
export function removeUnfinished(folder: string): void {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    const [, pid] = /\.(\d+)\.new$/.exec(name) ?? []
    if (pid !== undefined && !isBeingWritten(join(folder, name), Number(pid)))
      rmSync(join(folder, name), { force: true })
  }
}

/** Returns true for a recent file of a live process. In containers, a process often has the pid of a killed one. */
function isBeingWritten(file: string, pid: number): boolean {
  const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return pid !== process.pid && age < longestWriteMs && isProcess(pid)
}

function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Returns true if a system call failed because the disk or the quota of this user is full. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException | undefined)?.code ?? '')
}

export function diskFullError(path: string, cause: unknown): CliError {
  return new CliError('disk-full', `no space left on the disk of ${path}`, {
    nextStep: `free space there (df -h ${path}), then run the command again`,
    cause,
  })
}

/** The least space that is useful. Kafka and SQLite write more at a time. */
const leastBytes = 256 * 1024

/** Returns true if the disk of a path is full, and false for a missing path. */
export function hasNoSpace(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize < leastBytes
  } catch {
    return false
  }
}
