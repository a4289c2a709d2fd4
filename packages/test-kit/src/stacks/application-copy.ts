import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { type Ended, runIn } from './run-in.ts'
import { sourceFiles } from './source-files.ts'

/** A copy of the application, whose commands leave the `.env` and `.stack` of the application unchanged. */
export interface ApplicationCopy {
  folder: string
  /** Runs Node or a program of the packages. Returns the exit code, even if the program fails. */
  run: (command: string, args: string[], env?: Record<string, string>) => Promise<Ended>
  remove: () => void
}

/**
 * Copies all tracked and new files of a Git folder to a temporary folder, but no ignored files. Links to workspaces lead to the copy. The
 * packages of orderflow are copies, too, because they find the application in the folders above their own. All other packages are the
 * installed ones.
 */
export function copyApplication(application = repository): ApplicationCopy {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'orderflow-copy-')))
  // The user of PostgreSQL must be able to enter the folder.
  chmodSync(folder, 0o755)
  for (const path of sourceFiles(application)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    copyFileSync(join(application, path), join(folder, path))
  }
  for (const path of installedPackages(application)) bring(path, application, folder)
  for (const path of ownPackages(application)) symlinkSync(join(application, path), join(folder, path))
  return {
    folder,
    run: (command, args, env = {}) => {
      const PATH = [join(folder, 'node_modules/.bin'), dirname(process.execPath), process.env.PATH].join(delimiter)
      // Node’s compile cache is removed with the copy.
      const own = { PATH, NODE_COMPILE_CACHE: join(folder, '.stack/compile-cache') }
      return runIn(folder, command, args, { ...own, ...env })
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Returns the paths of packages and links in `node_modules`, also those in the folders of scopes. */
function installedPackages(application: string): string[] {
  const names = readdirSync(join(application, 'node_modules'))
  const inScope = (scope: string) =>
    readdirSync(join(application, 'node_modules', scope)).map((name) => join(scope, name))
  const all = names.flatMap((name) => (name.startsWith('@') ? inScope(name) : [name]))
  return all.map((name) => join('node_modules', name))
}

const isLink = (path: string) => lstatSync(path).isSymbolicLink()

function bring(path: string, application: string, folder: string): void {
  const [from, to] = [join(application, path), join(folder, path)]
  mkdirSync(dirname(to), { recursive: true })
  // npm’s links to workspaces are relative.
  if (isLink(from)) symlinkSync(readlinkSync(from), to)
  else if (path.startsWith('node_modules/@orderflow/')) cpSync(from, to, { recursive: true })
  else symlinkSync(from, to)
}

/** Returns the folders of packages that npm installed for a single workspace. */
export function ownPackages(application = repository): string[] {
  return installedPackages(application)
    .filter((path) => isLink(join(application, path)))
    .map((path) => join(dirname(path), readlinkSync(join(application, path)), 'node_modules'))
    .filter((path) => existsSync(join(application, path)))
}
