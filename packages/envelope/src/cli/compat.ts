import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Finding, findingsBetween } from '../compat/findings.ts'
import { lastRelease, StateError, schemasAt, schemasIn } from '../compat/states.ts'
import { contractFolder } from '../schemas/contract-folder.ts'
import { type Io, write } from './io.ts'
import { readOptions, UsageError } from './usage.ts'

export const help = `Usage: envelope compat [--against FOLDER|COMMIT] [--schemas FOLDER]

Compares schemas with an earlier state of them. What a Version of an event accepts may not change: words may (title, description).
Of a new Version it says whether it is compatible with the one before, and why not, by the pointer:

  backward   every Payload of the old Version is right by the new one
  forward    every Payload of the new Version is right by the old one
  full       both; breaking is neither

  --against   a folder of schemas, or a commit. Default: the last release, which is the last entry of releases.json at the root
              of the repository. Without one nothing is compared
  --schemas   the folder to compare, in place of the contract's

Exits with 0 if all is well, 1 if something is not, 2 if called wrongly or the state to compare with does not exist.
`

/** `envelope compat`: answers the exit code. */
export async function compat(args: string[], io: Io): Promise<number> {
  const { values, positionals } = readOptions(args, { against: { type: 'string' }, schemas: { type: 'string' } })
  if (positionals.length > 0) throw new UsageError(`compat reads no file: ${positionals[0]}; --schemas names a folder`)
  const folder = values.schemas ?? fileURLToPath(new URL('schemas', contractFolder))
  try {
    const against = values.against ?? lastRelease(folder)
    if (against === undefined) {
      await write(io.stdout, 'nothing is released: releases.json has no commit of this repository to compare with\n')
      return 0
    }
    const before = existsSync(against) ? schemasIn(against) : schemasAt(against, folder)
    const after = schemasIn(folder)
    if (![...after.keys()].some((path) => before.has(path)))
      throw new StateError(`${against} has none of these schemas`)
    const findings = findingsBetween(before, after)
    const wrong = findings.filter(({ isWrong }) => isWrong).length
    await write(io.stdout, findings.map(linesOf).join(''))
    await write(io.stdout, `${wrong > 0 ? `${wrong} not compatible` : 'compatible'} with ${against}\n`)
    return wrong > 0 ? 1 : 0
  } catch (error) {
    if (error instanceof StateError) throw new UsageError(error.message)
    throw error
  }
}

function linesOf({ path, isWrong, message, changes }: Finding): string {
  const reasons = changes.map(({ pointer, message, breaksBackward, breaksForward }) => {
    const broken = [breaksBackward && 'backward', breaksForward && 'forward'].filter(Boolean).join(' and ')
    return `  ${pointer || 'the document'} ${message} (breaks ${broken})\n`
  })
  return `${path}: ${isWrong ? 'error: ' : ''}${message}\n${reasons.join('')}`
}
