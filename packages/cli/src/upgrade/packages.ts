import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { UpgradeError } from './run.ts'

interface Manifest {
  name: string
  version: string
  workspaces?: string[]
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

const scope = '@orderflow/'
const readManifest = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Manifest

/**
 * Reads the manifests of an application and the new archives. Returns a function that writes the new version into each package.json, replaces the
 * archives, and returns the written paths.
 * @param archives the folder of the new archives; undefined if the application installs its packages from a registry
 * @throws {UpgradeError} if an archive is missing or unsuitable
 */
export function replacementOf(application: string, version: string, archives: string | undefined): () => string[] {
  const rootFile = join(application, 'package.json')
  const folders = globSync(readManifest(rootFile).workspaces ?? [], { cwd: application })
  const files = [rootFile, ...folders.map((folder) => join(application, folder, 'package.json'))]
  const manifests = files.map((file) => ({ file, manifest: readManifest(file) }))
  const own = new Set(manifests.map(({ manifest }) => manifest.name))
  const used = new Set<string>()
  for (const { manifest } of manifests) {
    for (const specs of [manifest.dependencies ?? {}, manifest.devDependencies ?? {}]) {
      for (const [name, spec] of Object.entries(specs)) {
        if (!name.startsWith(scope) || own.has(name)) continue
        specs[name] = spec.replace(/\d+\.\d+\.\d+.*?(?=\.tgz$|$)/, version)
        used.add(name)
      }
    }
  }
  const [root] = manifests
  const replaceArchives =
    archives !== undefined && root
      ? archivesReplacement(application, root.manifest, used, { archives, version })
      : () => []
  return () => {
    const replaced = replaceArchives()
    for (const { file, manifest } of manifests) write(file, manifest)
    return [...replaced, ...files.map((file) => relative(application, file))]
  }
}

/**
 * Reads the archives of the used packages, and of the packages that these need. Adds all of them to the root, or npm would look for them in its registry.
 * Returns a function that replaces the old archives, and returns the paths of the new ones.
 */
function archivesReplacement(
  application: string,
  root: Manifest,
  used: Set<string>,
  { archives, version }: { archives: string; version: string },
): () => string[] {
  const vendor = dirname(root.dependencies?.[`${scope}cli`]?.slice('file:'.length) ?? '')
  root.devDependencies ??= {}
  const contents = new Map<string, Buffer>()
  const unsuitable: string[] = []
  // The loop also visits the names that it adds.
  for (const name of used) {
    const archive = `orderflow-${name.slice(scope.length)}-${version}.tgz`
    if (!root.dependencies?.[name]) root.devDependencies[name] = `file:${vendor}/${archive}`
    const needed = neededBy(join(archives, archive), `${name} ${version}`)
    if (typeof needed === 'string') {
      unsuitable.push(`${archive} ${needed}`)
      continue
    }
    contents.set(archive, readFileSync(join(archives, archive)))
    for (const other of needed) used.add(other)
  }
  if (unsuitable.length > 0) {
    throw new UpgradeError(`${archives} lacks archives that the application needs: ${unsuitable.join(', ')}`, {
      nextStep: `in a clone of orderflow, run make -C tools packages VERSION=${version}, then ./orderflow upgrade CLONE/dist/packages`,
    })
  }
  return () => {
    for (const old of globSync(join(vendor, 'orderflow-*.tgz'), { cwd: application })) rmSync(join(application, old))
    for (const [archive, content] of contents) writeFileSync(join(application, vendor, archive), content)
    return [...contents.keys()].map((archive) => join(vendor, archive))
  }
}

/** Returns the packages that the package in an archive needs, or the reason why the archive is unsuitable. */
function neededBy(archive: string, expected: string): string[] | string {
  if (!existsSync(archive)) return 'is missing'
  let manifest: Manifest
  try {
    const options = { encoding: 'utf8', stdio: 'pipe' } as const
    manifest = JSON.parse(execFileSync('tar', ['-xzOf', archive, 'package/package.json'], options))
  } catch {
    return 'is unreadable'
  }
  const content = `${manifest.name} ${manifest.version}`
  if (content !== expected) return `contains ${content}`
  return Object.keys(manifest.dependencies ?? {}).filter((name) => name.startsWith(scope))
}

/** Keeps the indentation, as npm does. */
function write(file: string, manifest: Manifest): void {
  const [indentation = '  '] = /(?<=^\{\n)[ \t]+/.exec(readFileSync(file, 'utf8')) ?? []
  writeFileSync(file, `${JSON.stringify(manifest, null, indentation)}\n`)
}
