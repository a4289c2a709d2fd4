import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { CliError } from '../lib/error.ts'
import { removeUnfinished, replaceFile } from '../lib/files.ts'
import { withLock } from '../lib/lock.ts'
import { repository } from '../lib/paths.ts'

/** The state of an app before a release, for a rollback. It holds secrets, and its file is private. */
export interface Before {
  /** The newest release then; none for an app that never had one. */
  release?: { id: string; version: number }
  /** The number of web processes that were wanted; undefined before the first image. */
  quantity?: number
  /** The config vars that the release is about; null where there was none. */
  configVars: Record<string, string | null>
}

interface Journal {
  startedAt: string
  before: Before
  /** The app was live: a release without it failed or was interrupted. */
  finished?: { at: string; version: number }
  /** The finished release before, for when this one turns out to have changed nothing. */
  previous?: Journal
}

/** An app's last release, in a file of its own. */
export interface JournalFile {
  read: () => Journal | undefined
  /**
   * To be called before the first change. After an interruption `before` stays what it was: the app is half-way now.
   * @returns how the app was before this release and the interrupted ones that it finishes
   */
  begin: (before: Before, at: Date) => Before
  finish: (version: number, at: Date) => void
  remove: () => void
}

export function openJournal(app: string, env: NodeJS.ProcessEnv): JournalFile {
  const file = join(releaseFolder(env), 'apps', `${app}.json`)
  const read = () => readPrivate<Journal>(file)
  const remove = () => rmSync(file, { force: true })
  const write = (journal: Journal) => writePrivate(file, `${JSON.stringify(journal, null, 2)}\n`)
  return {
    read,
    remove,
    begin: (before, at) => {
      const last = read()
      if (last && !last.finished) {
        // A name that only this attempt sets has not been touched yet.
        const configVars = { ...before.configVars, ...last.before.configVars }
        const merged = { ...last.before, configVars }
        write({ ...last, before: merged })
        return merged
      }
      const { previous: _, ...finished } = last ?? {}
      const previous = last ? { previous: finished as Journal } : {}
      write({ startedAt: at.toISOString(), before, ...previous })
      return before
    },
    finish: (version, at) => {
      const current = read()
      if (!current) return
      if (current.before.release?.version !== version) {
        write({ ...current, finished: { at: at.toISOString(), version } })
      } else if (current.previous) write(current.previous)
      else remove()
    },
  }
}

/** Returns the folder of exports and journals, git-ignored: `RELEASE_FOLDER`, else `.release` of this checkout. */
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
 * @throws {CliError} `disk-full`
 */
export function writePrivate(file: string, content: string): void {
  replaceFile(file, content, 0o600)
}

/**
 * The JSON of a file that `writePrivate` wrote; undefined when there is none. Removes what a killed process left beside it.
 * @throws {CliError} `usage` when it is no JSON object
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
  throw new CliError('usage', `${file} is not a JSON object`, { nextStep: 'correct it, or remove it' })
}

interface LockOptions {
  app: string
  env: NodeJS.ProcessEnv
  /** Called with the process that holds the lock. */
  onWait: (pid: number) => void
}

/** Two releases of one app at once would each undo a part of the other. */
export function withAppLock<Result>({ app, env, onWait }: LockOptions, work: () => Promise<Result>): Promise<Result> {
  const folder = join(releaseFolder(env), 'apps')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return withLock(join(folder, `${app}.lock`), { timeoutMs: 600_000, onWait }, work)
}
