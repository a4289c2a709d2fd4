import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { repository, runTool } from '@orderflow/stack/base'

export interface InstalledPackage {
  /** The name without the scope. */
  name: string
  folder: string
  manifest: PublishedManifest
}

/** The fields that the checks read. */
export interface PublishedManifest {
  name: string
  exports: Record<string, { types: string; default: string }>
  imports?: Record<string, string>
  bin?: Record<string, string>
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

/** Returns the names of the packages that a package can import. */
export const dependenciesOf = ({ dependencies, peerDependencies }: PublishedManifest): string[] =>
  Object.keys({ ...dependencies, ...peerDependencies })

/**
 * Unpacks the archives into a new folder outside of the repository. There each package finds only the packages that its package.json declares. They are
 * links to the packages that the repository has installed.
 * @returns the folder, and its packages
 */
export async function installArchives(
  archives: Map<string, string>,
): Promise<{ folder: string; packages: InstalledPackage[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'orderflow-packages-'))
  const scope = join(folder, 'node_modules/@orderflow')
  const packages: InstalledPackage[] = []
  for (const [name, archive] of archives) {
    const own = join(scope, name)
    mkdirSync(own, { recursive: true })
    await runTool('tar', ['-xzf', archive, '-C', own, '--strip-components=1'], { cwd: folder })
    const manifest = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as PublishedManifest
    packages.push({ name, folder: own, manifest })
  }
  for (const { name, folder: own, manifest } of packages) {
    for (const dependency of dependenciesOf(manifest)) {
      const isOurs = dependency.startsWith('@orderflow/')
      link(isOurs ? join(folder, 'node_modules', dependency) : installed(name, dependency), own, dependency)
    }
  }
  // npm installs the types of Node next to the packages that depend on them.
  link(installed('cli', '@types/node'), folder, '@types/node')
  return { folder, packages }
}

function installed(name: string, dependency: string): string {
  const nested = join(repository, 'packages', name, 'node_modules', dependency)
  return existsSync(nested) ? nested : join(repository, 'node_modules', dependency)
}

function link(target: string, folder: string, dependency: string): void {
  const path = join(folder, 'node_modules', dependency)
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path)
}
