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

/** A copy of this repository to change and run. Paths are relative to its folder. */
export interface RepositoryCopy {
  folder: string
  /** Runs Node or a program of the packages. Returns the exit code, even if the program fails. */
  run: (command: string, args: string[], env?: Record<string, string>) => Promise<Ended>
  write: (path: string, text: string) => void
  /** @throws {Error} unless the file contains `from` exactly once */
  replace: (path: string, from: string, to: string) => void
  /** Loads a module of the copy, which imports other modules of the copy. Its type is the type of the original module. */
  load: <Module>(path: string) => Promise<Module>
  remove: () => void
}

/**
 * Copies all tracked and new files to a temporary folder, but no ignored files. Links to workspaces lead to the copy, and all other
 * packages are the installed ones.
 */
export function copyRepository(): RepositoryCopy {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'orderflow-copy-')))
  // The user of PostgreSQL must be able to enter the folder.
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
      // Node’s compile cache is removed with the copy.
      const own = { PATH, NODE_COMPILE_CACHE: join(folder, '.stack/compile-cache') }
      return promisify(execFile)(command, args, { cwd: folder, env: { ...process.env, ...own, ...env } })
        .then(({ stdout, stderr }) => ({ code: 0, stdout, stderr }))
        .catch((error: Ended) => error)
    },
    write,
    replace: (path, from, to) => {
      const parts = readFileSync(join(folder, path), 'utf8').split(from)
      if (parts.length !== 2) throw new Error(`${path} contains this ${parts.length - 1} times, not once: ${from}`)
      write(path, parts.join(to))
    },
    load: (path) => import(join(folder, path)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const lastInstalled = '.installed-lock.json'

/** Copies the relative links to workspaces, so that they lead to the workspaces of the copy. */
function linkPackages(folder: string): void {
  const own = join(folder, 'node_modules')
  const installed = join(repository, 'node_modules')
  mkdirSync(join(own, '@orderflow'), { recursive: true })
  for (const name of readdirSync(installed)) {
    if (name !== '@orderflow' && name !== lastInstalled) symlinkSync(join(installed, name), join(own, name))
  }
  // Marks the packages as installed for the copy’s lock file, so that packages/cli/node installs nothing.
  copyFileSync(join(folder, 'package-lock.json'), join(own, lastInstalled))
  for (const name of readdirSync(join(installed, '@orderflow'))) {
    symlinkSync(readlinkSync(join(installed, '@orderflow', name)), join(own, '@orderflow', name))
  }
  // Versions that npm installed for a single workspace.
  for (const path of ownPackages()) symlinkSync(join(repository, path), join(folder, path))
}

/** Returns the folders of packages that npm installed for a single workspace. */
export const ownPackages = (): string[] =>
  globSync(['*/node_modules', '{packages,tools}/*/node_modules'], { cwd: repository })
