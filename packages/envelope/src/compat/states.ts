import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Rules, Schemas } from './changes.ts'

/** An earlier state that there is not, or that nobody can find. */
export class StateError extends Error {
  override name = 'StateError'
}

/** The schemas in a folder. */
export function schemasIn(folder: string): Schemas {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw new StateError(`there is no folder ${folder}`)
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'))
  return parsed(names.map((name) => [name.replaceAll('\\', '/'), readFileSync(join(folder, name), 'utf8')]))
}

/** The schemas that stood in the folder at a commit. */
export function schemasAt(ref: string, folder: string): Schemas {
  const git = gitIn(folder)
  const commit = git('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`)
  if (!commit) throw new StateError(`${ref} is no folder, and no commit that this clone has`)
  const names =
    git('ls-tree', '-r', '--name-only', '-z', commit, '--', '.')
      ?.split('\0')
      .filter((name) => name.endsWith('.json')) ?? []
  if (names.length === 0) throw new StateError(`${ref} has no schemas in ${folder}`)
  return parsed(names.map((name) => [name, git('show', `${commit}:./${name}`) ?? '']))
}

/** The file at the root of a repository that lists its releases, oldest first. A clone has it even when it has no tags. */
const releasesFile = 'releases.json'

interface Release {
  version: string
  commit: string
}

/**
 * Returns the commit of the last release by the file of releases, because released schemas stay as they are. Undefined if nothing is
 * released: there is no such file, or the repository took over the files without their history.
 * @throws {StateError} the clone is shallow, and the commit is not part of it
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
    `${releasesFile} says that version ${version} is commit ${commit}, which this clone does not have: ` +
      'fetch it (git fetch --unshallow), or name another state with --against',
  )
}

/** Git's answer in a folder; undefined when it has none, or there is no git. */
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
