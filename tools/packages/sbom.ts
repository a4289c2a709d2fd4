import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { services } from '@orderflow/stack'
import { print, repository, versions } from '@orderflow/stack/base'
import { everyStackImage, hashes } from '@orderflow/stack/internals'

/** `make -C tools sbom` writes an SBOM (CycloneDX) and the licenses of the images to dist/. */
function writeSbom(): void {
  const files = { 'orderflow.cdx.json': `${JSON.stringify(sbom(), null, 2)}\n`, 'NOTICES.txt': `${notices()}\n` }
  mkdirSync(join(repository, 'dist'), { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(repository, 'dist', name), text)
    print(`dist/${name}`)
  }
}

/** Returns a CycloneDX bill of materials: npm packages, external images, and programs. */
export function sbom(): object {
  const components = [
    ...shippedPackages(readLock()).map(npmComponent),
    ...everyStackImage.map(imageComponent),
    goComponent('github.com/dapr/dapr', `v${versions.dapr}`),
    ...Object.entries(hashes)
      .filter(([name]) => name.endsWith('.jar'))
      .map(jarComponent),
  ]
  const component = { type: 'application', name: 'orderflow', 'bom-ref': 'orderflow' }
  return { bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, metadata: { component }, components }
}

function npmComponent(each: LockedPackage) {
  const purl = `pkg:npm/${each.name.replace('@', '%40')}@${each.version}`
  const license = licenseOf(each)
  return {
    type: 'library',
    // The same version of a package may be installed in two folders.
    'bom-ref': each.path,
    name: each.name,
    version: each.version,
    purl,
    hashes: sha512(each.integrity),
    ...(license && { licenses: [/[ (]/.test(license) ? { expression: license } : { license: { id: license } }] }),
  }
}

function imageComponent(image: string) {
  const [name, version] = image.split(':')
  return { type: 'container', 'bom-ref': image, name, version, purl: `pkg:docker/${name}@${version}` }
}

function goComponent(name: string, version: string) {
  const purl = `pkg:golang/${name}@${version}`
  return { type: 'application', 'bom-ref': purl, name, version, purl }
}

function jarComponent([name, hash]: [string, string]) {
  return { type: 'file', 'bom-ref': name, name, hashes: sha512(hash) }
}

function sha512(integrity: string) {
  return [{ alg: 'SHA-512', content: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') }]
}

const head = `Packages of others in the images of orderflow, and their licenses. Where a package has no text of its own, that of the
license it names holds: https://spdx.org/licenses/`
const rule = '-'.repeat(80)

/** Returns the license texts of the packages in our images. */
function notices(): string {
  const packages = shippedPackages(readLock()).sort((one, other) => one.name.localeCompare(other.name))
  return [head, ...packages.map(noticeOf)].join(`\n${rule}\n`)
}

function noticeOf(each: LockedPackage): string {
  const folder = join(repository, each.path)
  // Packages for other platforms are not installed.
  const files = existsSync(folder)
    ? readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
    : []
  const texts = files.sort().map((name) => readFileSync(join(folder, name), 'utf8').trim())
  return [`${each.name} ${each.version} (${licenseOf(each)})`, ...texts].join('\n\n')
}

/** Licenses whose only condition is that their notice is included. */
const accepted = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
  'Zlib',
]

/** Packages that only tests use. Their licenses have conditions only for changed or distributed packages. */
const acceptedInTests: Record<string, string> = { 'axe-core': 'MPL-2.0' }

/** Licenses that package-lock.json does not contain. */
const saidElsewhere: Record<string, string> = { buildcheck: 'MIT', 'cpu-features': 'MIT', ssh2: 'MIT' }

/** Returns the package's license as an SPDX expression. Accepted licenses get the spelling of SPDX. */
function licenseOf({ name, license = saidElsewhere[name] }: LockedPackage): string | undefined {
  return accepted.find((id) => id.toLowerCase() === license?.toLowerCase()) ?? license
}

/** Returns a line for each package with an unaccepted license. If a package has several licenses, all must be accepted. */
export function refusedLicenses(packages: LockedPackage[]): string[] {
  return packages.flatMap((each) => {
    const license = licenseOf(each)
    const ids = (license ?? '').split(/[\s()]+|\bAND\b|\bOR\b/).filter(Boolean)
    const isAccepted = (id: string) => accepted.includes(id) || acceptedInTests[each.name] === id
    const isFine = ids.length > 0 && ids.every(isAccepted)
    return isFine ? [] : [`${each.name}@${each.version}: ${license ?? 'no license'}`]
  })
}

interface LockEntry {
  version?: string
  license?: string
  integrity?: string
  /** True for a workspace, whose folder is in `resolved`. */
  link?: boolean
  resolved?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

export interface LockedPackage {
  /** The path of the folder, relative to the repository. */
  path: string
  name: string
  version: string
  license: string | undefined
  /** The hash: `sha512-` and base64. */
  integrity: string
}

type Lock = Record<string, LockEntry>

export function readLock(): Lock {
  const text = readFileSync(join(repository, 'package-lock.json'), 'utf8')
  return (JSON.parse(text) as { packages: Lock }).packages
}

/** Returns all packages, including those that only tests need. */
export function lockedPackages(lock: Lock): LockedPackage[] {
  return Object.entries(lock).flatMap(([path, entry]) => (entry.integrity ? [describePackage(path, entry)] : []))
}

/** Returns the packages that services and setup need at run time. */
export function shippedPackages(lock: Lock): LockedPackage[] {
  return runtimePackages(lock, ['packages/cli', ...services.map(({ folder }) => folder)])
}

/** Returns the packages that workspaces need at run time. */
export function runtimePackages(lock: Lock, workspaces: string[]): LockedPackage[] {
  const reached = new Set<string>()
  const visit = (path: string) => {
    if (reached.has(path)) return
    reached.add(path)
    const { dependencies, optionalDependencies, peerDependencies } = lock[path] ?? {}
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
    for (const name of names) {
      const found = resolve(lock, path, name)
      if (found) visit(found)
    }
  }
  for (const workspace of workspaces) visit(workspace)
  return lockedPackages(Object.fromEntries(Object.entries(lock).filter(([path]) => reached.has(path))))
}

/** Returns the folders of packages that a workspace needs at run time, such as `node_modules/express`. */
export function runtimeFolders(workspace: string): string[] {
  return runtimePackages(readLock(), [workspace]).map(({ path }) => path)
}

/** Returns the folder of a package that `from` imports. Undefined for an optional package that is not installed. */
function resolve(lock: Lock, from: string, name: string): string | undefined {
  const folders = from.split('/').map((_part, index, parts) => parts.slice(0, parts.length - index).join('/'))
  const candidates = [...folders, ''].map((folder) => join(folder, 'node_modules', name))
  const found = candidates.find((path) => lock[path])
  return found && lock[found]?.link ? lock[found].resolved : found
}

function describePackage(path: string, { version = '', license, integrity = '' }: LockEntry): LockedPackage {
  return { path, name: path.replace(/.*node_modules\//, ''), version, license, integrity }
}

if (import.meta.main) writeSbom()
