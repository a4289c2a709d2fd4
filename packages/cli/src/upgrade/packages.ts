import { execFileSync } from 'node:child_process'
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface Manifest {
  name: string
  workspaces?: string[]
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

const scope = '@orderflow/'
const readManifest = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Manifest

/**
 * Writes another version of the packages into each package.json of an application. Replaces their archives, too.
 * @param archives the folder of the new archives; undefined if the application installs its packages from a registry
 */
export function replacePackages(application: string, version: string, archives: string | undefined): void {
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
  if (archives !== undefined && root) replaceArchives(application, root.manifest, used, { archives, version })
  for (const { file, manifest } of manifests) write(file, manifest)
}

/** Copies the archives of the used packages, and of the packages that these need. The root names all of them, or npm would look for them in its registry. */
function replaceArchives(
  application: string,
  root: Manifest,
  used: Set<string>,
  { archives, version }: { archives: string; version: string },
): void {
  const vendor = dirname(root.dependencies?.[`${scope}cli`]?.slice('file:'.length) ?? '')
  for (const old of globSync(join(vendor, 'orderflow-*.tgz'), { cwd: application })) rmSync(join(application, old))
  root.devDependencies ??= {}
  // The loop also visits the names that it adds.
  for (const name of used) {
    const archive = `orderflow-${name.slice(scope.length)}-${version}.tgz`
    copyFileSync(join(archives, archive), join(application, vendor, archive))
    if (!root.dependencies?.[name]) root.devDependencies[name] = `file:${vendor}/${archive}`
    for (const needed of neededBy(join(archives, archive))) used.add(needed)
  }
}

function neededBy(archive: string): string[] {
  const text = execFileSync('tar', ['-xzOf', archive, 'package/package.json'], { encoding: 'utf8' })
  const { dependencies = {} } = JSON.parse(text) as Manifest
  return Object.keys(dependencies).filter((name) => name.startsWith(scope))
}

/** Keeps the indentation, as npm does. */
function write(file: string, manifest: Manifest): void {
  const [indentation = '  '] = /(?<=^\{\n)[ \t]+/.exec(readFileSync(file, 'utf8')) ?? []
  writeFileSync(file, `${JSON.stringify(manifest, null, indentation)}\n`)
}
