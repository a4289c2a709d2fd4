import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { repository } from '../application/paths.ts'
import { CliError, objectIn } from '../base/error.ts'
import { removeUnfinished, replaceFile } from '../base/files.ts'
import { withLock } from '../base/lock.ts'

/** The state of an app before a release, for a rollback. It contains secrets. */
export interface Before {
  /** The newest release. Undefined for an app without a release. */
  release?: { id: string; version: number }
  /** The number of processes. Undefined before the first image. */
  quantity?: number
  /** The previous values of the config vars that the release sets. Null for a new config var. */
  configVars: Record<string, string | null>
}

interface Journal {
  startedAt: string
  before: Before
  /** Undefined for a failed or interrupted release. */
  finished?: { at: string; version: number }
  /** The last finished release. It is recorded again if this release changes nothing. */
  previous?: Journal
}

export type JournalFile = ReturnType<typeof openJournal>

export function openJournal(app: string, env: NodeJS.ProcessEnv) {
  const file = join(releaseFolder(env), 'apps', `${app}.json`)
  const read = () => readPrivate<Journal>(file)
  const remove = () => rmSync(file, { force: true })
  const write = (journal: Journal) => replaceFile(file, `${JSON.stringify(journal, null, 2)}\n`, 0o600)
  return {
    read,
    remove,
    /**
     * Records a release before its first change. If the last release was interrupted, keeps the state from before that release, because the app is
     * partly changed.
     * @returns the state of the app before this release, or before the interrupted release
     */
    begin: (before: Before, at: Date): Before => {
      const last = read()
      if (last && !last.finished) {
        // The interrupted release has not changed config vars that only this release sets, so the current values of these are added.
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
    finish: (version: number, at: Date) => {
      const current = read()
      if (!current) return
      if (current.before.release?.version !== version) {
        write({ ...current, finished: { at: at.toISOString(), version } })
      } else if (current.previous) write(current.previous)
      else remove()
    },
  }
}

/** Returns the folder of exports and journals: `RELEASE_FOLDER`, or `.release`, which Git ignores. */
export const releaseFolder = (env: NodeJS.ProcessEnv): string => env.RELEASE_FOLDER || join(repository, '.release')

export function shown(file: string): string {
  const path = relative('.', file)
  return path.startsWith('..') ? file : path
}

/** @throws {CliError} `usage` if the file is not a JSON object */
export function readPrivate<Content>(file: string): Content | undefined {
  removeUnfinished(dirname(file))
  if (!existsSync(file)) return undefined
  const content = objectIn(readFileSync(file, 'utf8'))
  if (content) return content as Content
  // Leaves out the parser's message, because it could contain secrets.
  throw new CliError('usage', `${file} is not a JSON object`, { nextStep: 'correct it, or remove it' })
}

interface LockOptions {
  app: string
  env: NodeJS.ProcessEnv
  onWait: (pid: number) => void
}

export function withAppLock<Result>({ app, env, onWait }: LockOptions, work: () => Promise<Result>): Promise<Result> {
  const folder = join(releaseFolder(env), 'apps')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return withLock(join(folder, `${app}.lock`), { timeoutMs: 600_000, onWait }, work)
}
