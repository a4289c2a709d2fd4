import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { diskFullError, isDiskFull } from './disk-full.ts'

/**
 * Writes a file in one step: a reader, and the next command, find the old content or the new one, also when the disk is full or this
 * process is killed. Creates its folder, which is private if the file is.
 * @param mode of the file, such as 0o600
 * @throws {StackError} `disk-full`
 */
export function replaceFile(file: string, text: string, mode?: number): void {
  // A symbolic link stays one.
  const target = existsSync(file) ? realpathSync(file) : file
  const temporary = `${target}.${process.pid}.new`
  try {
    mkdirSync(dirname(target), { recursive: true, mode: mode === 0o600 ? 0o700 : undefined })
    writeFileSync(temporary, text, { mode })
    renameSync(temporary, target)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw isDiskFull(error) ? diskFullError(file, error) : error
  }
}
