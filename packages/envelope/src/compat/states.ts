import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Rules, Schemas } from './changes.ts'

/** Reports that an earlier state is missing or unreadable. */
export class StateError extends Error {
  override name = 'StateError'
}

export function schemasIn(folder: string): Schemas {
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new StateError(`the folder ${folder} does not exist`)
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'))
  return parsed(names.map((name) => [name.replaceAll('\\', '/'), readFileSync(join(folder, name), 'utf8')]))
}

export function schemasAt(ref: string, folder: string): Schemas {
  const git = gitIn(folder)
  const commit = git('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`)
  if (!commit) throw new StateError(`${ref} is neither a folder nor a commit of this clone`)
  const names =
    git('ls-tree', '-r', '--name-only', '-z', commit, '--', '.')
      ?.split('\0')
      .filter((name) => name.endsWith('.json')) ?? []
  if (names.length === 0) throw new StateError(`${ref} has no schemas in ${folder}`)
  return parsed(names.map((name) => [name, git('show', `${commit}:./${name}`) ?? '']))
}

/** The file with all releases, oldest first. A clone always has this file, but may lack tags. */
const releasesFile = 'releases.json'

interface Release {
  version: string
  commit: string
}

/**
 * Returns the commit of the last release. Returns undefined if releases.json is missing, or lists commits of another history.
 * @throws {StateError} if the clone is shallow and lacks the commit
 */
export function lastRelease(folder: string): string | undefined {
  const git = gitIn(folder)
  const top = git('rev-parse', '--show-toplevel')
  const file = top && join(top, releasesFile)
  if (!file || !existsSync(file)) return undefined
  const { version, commit } = (JSON.parse(readFileSync(file, 'utf8')) as Partial<Release>[]).at(-1) ?? {}
  if (!commit || git('rev-parse', '--verify', '--quiet', `${commit}^{commit}`)) return commit
  if (git('rev-parse', '--is-shallow-repository') !== 'true') return undefined
  throw new StateError(
    `${releasesFile} names version ${version} as commit ${commit}, which this clone does not have: ` +
      'fetch it (git fetch --unshallow), or name another state with --against',
  )
}

/** Returns git's output in a folder, or undefined if the output is empty or git fails. */
function gitIn(folder: string): (...args: string[]) => string | undefined {
  return (...args) => {
    try {
      return (
        execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim() ||
        undefined
      )
    } catch {
      return undefined
    }
  }
}

function parsed(files: [path: string, text: string][]): Schemas {
  return new Map(
    files.map(([path, text]) => {
      try {
        return [path, JSON.parse(text) as Rules]
      } catch {
        throw new StateError(`${path} is not JSON`)
      }
    }),
  )
}
