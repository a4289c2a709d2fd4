import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { StackError } from '../../lib/error.ts'
import { repository } from '../../lib/paths.ts'
import { removeUnfinished, replaceFile } from '../../lib/replace-file.ts'
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
  try {
    replaceFile(file, content, 0o600)
  } catch (error) {
    if (!(error instanceof StackError)) throw error
    throw new ReleaseError('disk-full', error.message, { nextStep: error.nextStep, cause: error })
  }
}

/**
 * The JSON of a file that `writePrivate` wrote; undefined when there is none. Removes what a killed process left beside it.
 * @throws {ReleaseError} `usage` when it is no JSON object
 */
export function readPrivate<Content>(file: string): Content | undefined {
  removeUnfinished(dirname(file))
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
