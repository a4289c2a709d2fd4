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
 * Writes a file in one step: a reader, and the next command, find the old content or the new one, also when the disk is full or this
 * process is killed. Creates its folder, which is private if the file is; a private file is also whole when the machine goes down. A killed
 * process leaves its temporary file, which the next call for this folder removes, and `removeUnfinished`.
 * @param mode of the file, such as 0o600
 * @throws {CliError} `disk-full`
 */
export function replaceFile(file: string, text: string, mode?: number): void {
  // A symbolic link stays one.
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

/** No write takes so long. */
const longestWriteMs = 60_000

/** Removes the temporary files of killed processes from a folder. They may hold secrets. */
export function removeUnfinished(folder: string): void {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    const [, pid] = /\.(\d+)\.new$/.exec(name) ?? []
    if (pid !== undefined && !isBeingWritten(join(folder, name), Number(pid)))
      rmSync(join(folder, name), { force: true })
  }
}

/** A process may have the number of one that was killed, in containers the first one always does. */
function isBeingWritten(file: string, pid: number): boolean {
  const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return pid !== process.pid && age < longestWriteMs && isProcess(pid)
}

function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it is another user's.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Returns whether a call of the system failed because the disk or this user's quota is full. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException | undefined)?.code ?? '')
}

/** The error of a command that could not write a file. */
export function diskFullError(path: string, cause: unknown): CliError {
  return new CliError('disk-full', `no space left on the disk of ${path}`, {
    nextStep: `free some there (df -h ${path}), then run the command again`,
    cause,
  })
}

/** Less than this is as good as nothing: Kafka and SQLite write more at a time. */
const leastBytes = 256 * 1024

/** Returns whether the disk of a path has no space. False for a path that does not exist. */
export function hasNoSpace(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize < leastBytes
  } catch {
    return false
  }
}
