import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cacheFolder } from '@orderflow/cli'

// What has passed on this machine already is not tested again while all that it depends on is the same, and the report says so.

/** The file that remembers what passed last under a name: the digest of all that it depends on. */
const fileOf = (name: string) => join(cacheFolder(), 'passed', name.replaceAll(/[/: ]/g, '-'))

/**
 * Whether the tests of this name have passed with this digest.
 * @returns why they are left out, and what makes them run; undefined where they have to run
 */
export function whyLeftOut(name: string, digest: string): string | undefined {
  const file = fileOf(name)
  if (readIfThere(file) !== digest) return undefined
  return `passed before, and nothing that it depends on has changed; rm ${file} to test it again`
}

/** Remembers that they have. */
export function hasPassed(name: string, digest: string): void {
  const file = fileOf(name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, digest)
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
