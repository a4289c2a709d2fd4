import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type ApplicationCopy, copyApplication } from '@orderflow/test-kit/stacks'

export interface FileEditor {
  write: (path: string, text: string) => void
  /** @throws {Error} unless the file contains `from` exactly once */
  replace: (path: string, from: string, to: string) => void
}

/** A copy of this repository to change and run. Paths are relative to its folder. */
export interface RepositoryCopy extends ApplicationCopy, FileEditor {
  /** Loads a module of the copy, which imports other modules of the copy. Its type is the type of the original module. */
  load: <Module>(path: string) => Promise<Module>
}

export function copyRepository(): RepositoryCopy {
  const copy = copyApplication()
  const { folder } = copy
  // Marks the packages as installed for the copy’s lock file, so that packages/cli/node installs nothing.
  const lastInstalled = join(folder, 'node_modules/.installed-lock.json')
  rmSync(lastInstalled, { force: true })
  copyFileSync(join(folder, 'package-lock.json'), lastInstalled)
  return { ...copy, ...editorOf(folder), load: (path) => import(join(folder, path)) }
}

export function editorOf(folder: string): FileEditor {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return {
    write,
    replace: (path, from, to) => {
      const parts = readFileSync(join(folder, path), 'utf8').split(from)
      if (parts.length !== 2) throw new Error(`${path} contains this ${parts.length - 1} times, not once: ${from}`)
      write(path, parts.join(to))
    },
  }
}
