import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Change } from '../compat/changes.ts'
import { type Finding, findingsBetween } from '../compat/findings.ts'
import { readersIn, readersOf } from '../compat/readers.ts'
import { lastRelease, StateError, schemasAt, schemasIn } from '../compat/states.ts'
import { contractFolder } from '../schemas/contract-folder.ts'
import { type Io, write } from './io.ts'
import { readOptions, UsageError } from './usage.ts'

export const help = `Usage: envelope compat [--against FOLDER|COMMIT] [--schemas FOLDER]

Compare the schemas with an earlier state. Only titles and descriptions of a published Version may change.
For a new Version, print its compatibility with the previous Version, and the pointers of the rules that break compatibility:

  backward   every Payload of the old Version is valid in the new one
  forward    every Payload of the new Version is valid in the old one
  full       backward and forward
  breaking   neither backward nor forward

If new Payloads can be invalid in the old schema, print the services of the application that read the changed field (from their reads.json).

  --against   a folder of schemas, or a commit. Default: the last release, which is the last entry of releases.json at the root
              of the repository. Without a release, all schemas are accepted
  --schemas   the folder to compare. Default: the contract's folder

Exit codes: 0 if all schemas are compatible, 1 if some are not, 2 for wrong arguments or an unknown earlier state.
`

export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = readOptions(args, { against: { type: 'string' }, schemas: { type: 'string' } })
  if (positionals.length > 0)
    throw new UsageError(`compat reads no files: remove ${positionals[0]}, or name a folder with --schemas`)
  const folder = values.schemas ?? fileURLToPath(new URL('schemas', contractFolder))
  try {
    const against = values.against ?? lastRelease(folder)
    if (against === undefined) {
      await write(io.stdout, 'nothing to compare: releases.json lists no release of this repository\n')
      return 0
    }
    const before = existsSync(against) ? schemasIn(against) : schemasAt(against, folder)
    const after = schemasIn(folder)
    if (![...after.keys()].some((path) => before.has(path)))
      throw new StateError(`${against} has none of these schemas; name another state with --against`)
    const findings = findingsBetween(before, after)
    const wrong = findings.filter(({ isWrong }) => isWrong).length
    const known = readersIn(join(folder, '../..'))
    await write(io.stdout, findings.map((finding) => linesOf(finding, known)).join(''))
    await write(io.stdout, `${wrong > 0 ? `${wrong} not compatible` : 'compatible'} with ${against}\n`)
    return wrong > 0 ? 1 : 0
  } catch (error) {
    if (error instanceof StateError) throw new UsageError(error.message)
    throw error
  }
}

type Known = ReturnType<typeof readersIn>

function linesOf(finding: Finding, known: Known): string {
  const { path, isWrong, message, changes } = finding
  const reasons = changes.map((change) => {
    const { pointer, message, breaksBackward, breaksForward } = change
    const broken = [breaksBackward && 'backward', breaksForward && 'forward'].filter(Boolean).join(' and ')
    return `  ${pointer || 'the document'} ${message} (breaks ${broken})\n${readerLines(finding, change, known)}`
  })
  return `${path}: ${isWrong ? 'error: ' : ''}${message}\n${reasons.join('')}`
}

/** Returns lines only for a change that may break readers, in an application with services. */
function readerLines({ types }: Finding, { pointer, breaksForward }: Change, known: Known): string {
  if (!known || !breaksForward || types.length === 0) return ''
  const lines = [
    ...readersOf(known.readers, types, pointer).map(
      ({ service, type, pointer }) => `${service} reads ${pointer} of ${type}`,
    ),
    ...known.unknown.map((service) => `${service} may read it: it has no test/reads.json, which its tests write`),
  ]
  return (lines.length > 0 ? lines : ['no service reads it']).map((line) => `    ${line}\n`).join('')
}
