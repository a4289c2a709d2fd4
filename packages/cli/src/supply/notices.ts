import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../lib/paths.ts'
import { licenseOf } from './licenses.ts'
import { type LockedPackage, readLock, shippedPackages } from './lock.ts'

const head = `Packages of others in the images of orderflow, and their licenses. Where a package has no text of its own, that of the
license it names holds: https://spdx.org/licenses/`
const rule = '-'.repeat(80)

/** The licenses of what is in our images, as the packages have them. Those of others' images are in these. */
export function notices(): string {
  const packages = shippedPackages(readLock()).sort((one, other) => one.name.localeCompare(other.name))
  return [head, ...packages.map(noticeOf)].join(`\n${rule}\n`)
}

function noticeOf(each: LockedPackage): string {
  const folder = join(repository, each.path)
  // One for another platform is not installed.
  const files = existsSync(folder)
    ? readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
    : []
  const texts = files.sort().map((name) => readFileSync(join(folder, name), 'utf8').trim())
  return [`${each.name} ${each.version} (${licenseOf(each)})`, ...texts].join('\n\n')
}
