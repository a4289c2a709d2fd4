import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { attempt, CliError } from './error.ts'

/**
 * Writes a file atomically. A private file gets a private folder, and survives a failure of the machine.
 * @param mode the permissions; 0o600 makes the file private
 * @throws {CliError} `disk-full`
 */
export function replaceFile(file: string, text: string, mode?: number): void {
  // If `file` is a symbolic link, keeps the link and writes the target.
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

/** Returns the paths of all files in a folder and its subfolders. */
export function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/**
 * Reads a JSON file.
 * @param which describes the file in the next step, such as `, which records the start`
 * @throws {CliError} `settings` if the file is missing or invalid
 */
export function readJson<Content>(file: string, which = ''): Content {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Content
  } catch (cause) {
    const nextStep = `correct ${file}${which}`
    throw new CliError('settings', `${file}: ${(cause as Error).message}`, { nextStep, cause })
  }
}

/** The age in milliseconds from which a temporary file is treated as abandoned. */
const longestWriteMs = 60_000

/** Removes temporary files of killed processes, because they may contain secrets. */
export function removeUnfinished(folder: string): void {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    const [, pid] = /\.(\d+)\.new$/.exec(name) ?? []
    if (pid !== undefined && !isBeingWritten(join(folder, name), Number(pid)))
      rmSync(join(folder, name), { force: true })
  }
}

/** Checks the age, too, because in containers a new process often gets the pid of a killed process. */
function isBeingWritten(file: string, pid: number): boolean {
  const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return pid !== process.pid && age < longestWriteMs && isProcess(pid)
}

function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // The process exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Returns true if the disk or the user's quota is full. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException | undefined)?.code ?? '')
}

export function diskFullError(path: string, cause: unknown): CliError {
  return new CliError('disk-full', `no space left on the disk of ${path}`, {
    nextStep: `free space there (df -h ${path}), then run the command again`,
    cause,
  })
}

/** The free space in bytes below which a disk is treated as full. Kafka and SQLite write more than this at a time. */
const leastBytes = 256 * 1024

/** Returns true if the disk of a path is full, false for a missing path. */
export function hasNoSpace(path: string): boolean {
  const disk = attempt(() => statfsSync(path))
  return disk !== undefined && disk.bavail * disk.bsize < leastBytes
}
