import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cacheFolder } from '@orderflow/stack/base'

// Skips tests that have passed on this machine with the same dependencies.

/** Returns the file with the digest that a test’s dependencies had when the test last passed. */
const fileOf = (name: string) => join(cacheFolder(), 'passed', name.replaceAll(/[/: ]/g, '-'))

/**
 * Checks whether tests have passed with this digest.
 * @returns the reason to skip them, or undefined if they must run
 */
export function whyLeftOut(name: string, digest: string): string | undefined {
  const file = fileOf(name)
  if (readIfThere(file) !== digest) return undefined
  return `passed before, with the same dependencies; rm ${file} to test it again`
}

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
