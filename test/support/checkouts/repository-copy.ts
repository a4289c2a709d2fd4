import { execFile } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { repository } from '@orderflow/cli'
import type { Ended } from '../operators/operate.ts'
import { sourceFiles } from '../source-files.ts'

/** A copy of this repository, to be changed and run as somebody else's checkout would be. Paths are relative to its folder. */
export interface RepositoryCopy {
  folder: string
  /** Runs a program in the folder; the packages' programs and this Node come first. A failure is its exit code. */
  run: (command: string, args: string[], env?: Record<string, string>) => Promise<Ended>
  write: (path: string, text: string) => void
  /** @throws {Error} when `from` is not in the file exactly once: the change is for another text */
  replace: (path: string, from: string, to: string) => void
  /** A module of the copy, with the type of the original's; it and what it imports are the copy's own. */
  load: <Module>(path: string) => Promise<Module>
  remove: () => void
}

/**
 * Copies what git tracks, and what is new and not ignored, to a temporary folder. Its workspaces' packages are its own, all others
 * are those that are installed here.
 */
export function copyRepository(): RepositoryCopy {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'orderflow-copy-')))
  // As other folders are, for the user that PostgreSQL runs as.
  chmodSync(folder, 0o755)
  for (const path of sourceFiles(repository)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    copyFileSync(join(repository, path), join(folder, path))
  }
  linkPackages(folder)
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return {
    folder,
    run: (command, args, env = {}) => {
      const PATH = [join(folder, 'node_modules/.bin'), dirname(process.execPath), process.env.PATH].join(delimiter)
      // What Node compiled goes with the copy.
      const own = { PATH, NODE_COMPILE_CACHE: join(folder, '.stack/compile-cache') }
      return promisify(execFile)(command, args, { cwd: folder, env: { ...process.env, ...own, ...env } })
        .then(({ stdout, stderr }) => ({ code: 0, stdout, stderr }))
        .catch((error: Ended) => error)
    },
    write,
    replace: (path, from, to) => {
      const parts = readFileSync(join(folder, path), 'utf8').split(from)
      if (parts.length !== 2) throw new Error(`${path} has ${parts.length - 1} times, not once: ${from}`)
      write(path, parts.join(to))
    },
    load: (path) => import(join(folder, path)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const lastInstalled = '.installed-lock.json'

/** Links of workspaces are relative, so that a copy of one leads to the copy's workspace. */
function linkPackages(folder: string): void {
  const own = join(folder, 'node_modules')
  const installed = join(repository, 'node_modules')
  mkdirSync(join(own, '@orderflow'), { recursive: true })
  for (const name of readdirSync(installed)) {
    if (name !== '@orderflow' && name !== lastInstalled) symlinkSync(join(installed, name), join(own, name))
  }
  // They are not those of another lock file than the copy's, and nothing has to be installed (packages/cli/node).
  copyFileSync(join(folder, 'package-lock.json'), join(own, lastInstalled))
  for (const name of readdirSync(join(installed, '@orderflow'))) {
    symlinkSync(readlinkSync(join(installed, '@orderflow', name)), join(own, '@orderflow', name))
  }
  // Versions that npm installed for one workspace alone.
  for (const path of ownPackages()) symlinkSync(join(repository, path), join(folder, path))
}

/** The folders of packages that npm installed for one workspace alone, from the repository. */
export const ownPackages = (): string[] =>
  globSync(['*/node_modules', '{packages,tools}/*/node_modules'], { cwd: repository })
