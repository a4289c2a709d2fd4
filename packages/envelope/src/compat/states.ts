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

/**
 * Returns the state to compare with by default: the last release, because released schemas stay as they are. Before the first
 * release it is the commit where this branch left main, or, on main itself, the previous commit.
 * @throws {StateError} this clone does not have that commit
 */
export function lastState(folder: string): string {
  const git = gitIn(folder)
  const release = lastRelease(git)
  if (release) return release
  const head = git('rev-parse', 'HEAD')
  const bases = ['origin/main', 'main'].map((main) => git('merge-base', 'HEAD', main))
  const found = bases.find((base) => base && base !== head) ?? git('rev-parse', '--verify', '--quiet', 'HEAD^')
  if (found) return found
  // The first commit of all has none before it; of a clone that was cut short, nobody knows what was.
  if (head && git('rev-parse', '--is-shallow-repository') === 'false') return head
  const message = 'there is no history here to compare with'
  throw new StateError(`${message}: bring it (git fetch --unshallow --tags), or name a state with --against`)
}

/** The file at the root of a repository that lists its releases, oldest first. A clone has it even when it has no tags. */
const releasesFile = 'releases.json'

interface Release {
  version: string
  commit: string
}

/**
 * Returns the commit of the last release by the file of releases, or else its tag; undefined before the first release, and in a repository
 * that took over the files without their history.
 * @throws {StateError} the clone is shallow, and the commit is not part of it
 */
function lastRelease(git: ReturnType<typeof gitIn>): string | undefined {
  const top = git('rev-parse', '--show-toplevel')
  const file = top && join(top, releasesFile)
  if (file && existsSync(file)) {
    const { version, commit } = (JSON.parse(readFileSync(file, 'utf8')) as Release[]).at(-1) as Release
    if (git('rev-parse', '--verify', '--quiet', `${commit}^{commit}`)) return commit
    if (git('rev-parse', '--is-shallow-repository') === 'true') {
      throw new StateError(
        `${releasesFile} says that version ${version} is commit ${commit}, which this clone does not have: ` +
          'fetch it (git fetch --unshallow), or name another state with --against',
      )
    }
  }
  return git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*')
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
