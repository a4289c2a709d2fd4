import { statfsSync } from 'node:fs'

/** https://www.sqlite.org/rescode.html: SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL and SQLITE_CANTOPEN. */
const sqliteFaults = new Set([8, 10, 13, 14])
const systemFaults = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EACCES', 'EMFILE', 'ENFILE'])

/** Returns what is wrong with the disk below a folder, and what to do. Returns undefined for an error that has another cause. */
export function storageFault(error: unknown, folder: string): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { errcode, code = '' } = error as Error & { errcode?: number; code?: string }
  // The lowest byte of an extended code is the primary one.
  const primary = errcode === undefined ? undefined : errcode & 0xff
  const isFault = primary === undefined ? systemFaults.has(code) : sqliteFaults.has(primary)
  if (!isFault) return undefined
  const isFull = primary === 13 || code === 'ENOSPC' || code === 'EDQUOT' || hasNoSpace(folder)
  return isFull
    ? `no space left on the disk of ${folder}: free some there; the monitor continues within seconds, without a restart`
    : `${folder} cannot be written (${error.message}): check its disk and its permissions; the monitor tries again every second`
}

/** SQLite reports a full disk as an I/O error where it extends its shared memory, which needs less than this. */
const leastBytes = 64 * 1024

function hasNoSpace(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize < leastBytes
  } catch {
    return false
  }
}
