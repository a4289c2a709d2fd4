import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { repository } from '@orderflow/stack'
import { ReleaseError } from '../lib/error.ts'

/** Where exports and journals are kept, git-ignored: `RELEASE_FOLDER`, else `.release` of this checkout. */
export function releaseFolder(env: NodeJS.ProcessEnv): string {
  return env.RELEASE_FOLDER || join(repository, '.release')
}

/** A file's path as one would type it here. */
export function shown(file: string): string {
  const path = relative('.', file)
  return path.startsWith('..') ? file : path
}

/**
 * Writes a file that only its owner may read, whole or not at all, also when the machine goes down.
 * @throws {ReleaseError} `disk-full`
 */
export function writePrivate(file: string, content: string): void {
  const temporary = `${file}.${process.pid}.new`
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeSynced(temporary, content)
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    throw new ReleaseError('disk-full', `no space left on the disk of ${file}`, {
      nextStep: 'free some there, then run the command again',
      cause: error,
    })
  }
}

function writeSynced(file: string, content: string): void {
  const descriptor = openSync(file, 'w', 0o600)
  try {
    // Unlike writeSync, it continues after a write of some of the bytes, which is what a nearly full disk takes.
    writeFileSync(descriptor, content)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * The JSON of a file that `writePrivate` wrote; undefined when there is none.
 * @throws {ReleaseError} `usage` when it is no JSON object
 */
export function readPrivate<Content>(file: string): Content | undefined {
  if (!existsSync(file)) return undefined
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof content === 'object' && content !== null && !Array.isArray(content)) return content as Content
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  // Not the parser's words: they quote the file, which has secrets.
  throw new ReleaseError('usage', `${file} is not a JSON object`, { nextStep: 'mend it, or remove it' })
}
