import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../lib/paths.ts'
import { services } from '../lib/services.ts'

interface LockEntry {
  version?: string
  license?: string
  integrity?: string
  /** Of a workspace: its folder. */
  link?: boolean
  resolved?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

/** A package of others that package-lock.json names. */
export interface LockedPackage {
  /** Where it is installed, from the repository's folder. */
  path: string
  name: string
  version: string
  /** As it says itself: an SPDX expression, if anything. */
  license: string | undefined
  /** `sha512-` and base64. */
  integrity: string
}

export type Lock = Record<string, LockEntry>

export function readLock(): Lock {
  const text = readFileSync(join(repository, 'package-lock.json'), 'utf8')
  return (JSON.parse(text) as { packages: Lock }).packages
}

/** Every package of others, those that only tests need included. */
export function lockedPackages(lock: Lock): LockedPackage[] {
  return Object.entries(lock).flatMap(([path, entry]) => (entry.integrity ? [describePackage(path, entry)] : []))
}

/** Those that are in an image of ours: what the services and stack's setup need at run time. */
export function shippedPackages(lock: Lock): LockedPackage[] {
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
  for (const workspace of ['packages/cli', ...services.map(({ folder }) => folder)]) visit(workspace)
  return lockedPackages(Object.fromEntries(Object.entries(lock).filter(([path]) => reached.has(path))))
}

/** Where Node finds a package that one at `from` imports; undefined for what is optional and left out. */
function resolve(lock: Lock, from: string, name: string): string | undefined {
  const folders = from.split('/').map((_part, index, parts) => parts.slice(0, parts.length - index).join('/'))
  const candidates = [...folders, ''].map((folder) => join(folder, 'node_modules', name))
  const found = candidates.find((path) => lock[path])
  return found && lock[found]?.link ? lock[found].resolved : found
}

function describePackage(path: string, { version = '', license, integrity = '' }: LockEntry): LockedPackage {
  return { path, name: path.replace(/.*node_modules\//, ''), version, license, integrity }
}
