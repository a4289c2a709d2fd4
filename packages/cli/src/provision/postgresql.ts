import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Debian and Homebrew keep each version in a folder of its own, which is not on PATH. */
const parents = ['/usr/lib/postgresql', '/opt/homebrew/opt']

/** The folder of PostgreSQL's server programs (`postgres`, `initdb`): one of PATH, else the newest version's; undefined without. */
export function findPostgresql(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const ofPath = (env.PATH ?? '').split(delimiter).filter(Boolean)
  return [...ofPath, ...ofVersions()].find((folder) => existsSync(join(folder, 'initdb')))
}

/** Their folders are called `15`, or `postgresql@17`. */
function ofVersions(): string[] {
  const numberOf = (name: string) => Number(/^(?:postgresql@)?(\d+)$/.exec(name)?.[1])
  return parents.flatMap((parent) =>
    (existsSync(parent) ? readdirSync(parent) : [])
      .filter((name) => numberOf(name) > 0)
      .sort((a, b) => numberOf(b) - numberOf(a))
      .map((name) => join(parent, name, 'bin')),
  )
}
