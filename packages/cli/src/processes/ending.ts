import { hasNoSpace } from '../lib/files.ts'
import { logTail } from './logs.ts'
import { dataFolder, logFile } from './plan.ts'

/** A server prints a stack or two after the reason. */
const lastLines = 60

/**
 * Returns the disk whose lack of space ended a process, as far as its log and the disks tell; undefined for another reason. On a full disk
 * the last lines of a log may be missing, so the disks are asked as well.
 */
export function fullDiskOf(folder: string, name: string): string | undefined {
  const isInLog = /no space left|disk is full/i.test(logTail(folder, name, lastLines))
  if (isInLog || hasNoSpace(dataFolder(folder))) return dataFolder(folder)
  return hasNoSpace(logFile(folder, name)) ? logFile(folder, name) : undefined
}
