import { lstatSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { CliError } from '@orderflow/stack/base'

/** @throws {CliError} `usage` without a folder */
export function requireFolder(folder: string | undefined, example: string): string {
  if (!folder) throw new CliError('usage', 'the folder of the backup is missing', { nextStep: example })
  const path = resolve(folder)
  const entry = lstatSync(path, { throwIfNoEntry: false })
  if (!entry || statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
  const kind = entry.isSymbolicLink() ? 'a link to a file or to nothing' : 'a file'
  throw new CliError('usage', `${path} is ${kind}, but a backup is a folder`, { nextStep: example })
}
