import type { LockedPackage } from './lock.ts'

/** Licenses that ask for no more than to be named. Another is read by a person before it is added. */
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

/** Others, of packages that are used as they are, to test with: what they ask concerns those who change or ship them. */
const acceptedInTests: Record<string, string> = { 'axe-core': 'MPL-2.0' }

/** What packages say in an older form than package-lock.json knows. */
const saidElsewhere: Record<string, string> = { buildcheck: 'MIT', 'cpu-features': 'MIT', ssh2: 'MIT' }

/** The package's SPDX expression, in SPDX's own letters where it is one of the accepted; undefined when it says none. */
export function licenseOf({ name, license = saidElsewhere[name] }: LockedPackage): string | undefined {
  return accepted.find((id) => id.toLowerCase() === license?.toLowerCase()) ?? license
}

/** A line for each package with a license that is not accepted. Of several each must be, also where one could be chosen. */
export function refusedLicenses(packages: LockedPackage[]): string[] {
  return packages.flatMap((each) => {
    const license = licenseOf(each)
    const ids = (license ?? '').split(/[\s()]+|\bAND\b|\bOR\b/).filter(Boolean)
    const isAccepted = (id: string) => accepted.includes(id) || acceptedInTests[each.name] === id
    const isFine = ids.length > 0 && ids.every(isAccepted)
    return isFine ? [] : [`${each.name}@${each.version}: ${license ?? 'no license'}`]
  })
}
