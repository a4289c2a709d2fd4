import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StackError } from '../lib/error.ts'
import { repository } from '../lib/paths.ts'

export const hashesFile = join(repository, 'packages/cli/hashes.json')

/**
 * What each download must be, by its name: a Go module's `h1:` (which covers its go.sum, and so all it needs), and of a file of npm's or
 * Maven's its `sha512-`, in base64. `make -C tools hashes` writes it.
 */
export const hashes = JSON.parse(readFileSync(hashesFile, 'utf8')) as Record<string, string>

/** @throws {StackError} `wrong-hash` when this is not what packages/cli/hashes.json says, or it says nothing */
export function checkHash(name: string, found: string): void {
  const pinned = hashes[name]
  if (pinned === found) return
  throw new StackError(
    'wrong-hash',
    `${name} is ${found}, and packages/cli/hashes.json says ${pinned ?? 'nothing about it'}`,
    {
      nextStep: pinned
        ? 'do not use it: find out who changed it'
        : 'make -C tools hashes, when its version was changed on purpose',
    },
  )
}

/** As npm writes it: `sha512-` and base64. */
export function hashOf(file: string): string {
  return `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
}
