import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readPrivate, releaseFolder, writePrivate } from './private-file.ts'

/** How an app was before a release, so that a rollback can bring it back. It holds secrets, and its file is private. */
export interface Before {
  /** The newest release then; none for an app that never had one. */
  release?: { id: string; version: number }
  /** How many web processes were wanted; none before the first image. */
  quantity?: number
  /** The config vars that the release is about; null where there was none. */
  configVars: Record<string, string | null>
}

export interface Journal {
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
