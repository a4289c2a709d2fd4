import { statfsSync } from 'node:fs'
import { StackError } from './error.ts'

/** Whether a call of the system failed because a disk, or the share of it that this user may use, is full. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException | undefined)?.code ?? '')
}

/** The error of a command that could not write a file. */
export function diskFullError(path: string, cause: unknown): StackError {
  return new StackError('disk-full', `no space left on the disk of ${path}`, {
    nextStep: `free some there (df -h ${path}), then run the command again`,
    cause,
  })
}

/** Less than this is as good as nothing: Kafka and SQLite write more at a time. */
const leastBytes = 256 * 1024

/** Whether the disk of a path has no space now. False for a path that does not exist. */
export function hasNoSpace(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize < leastBytes
  } catch {
    return false
  }
}
