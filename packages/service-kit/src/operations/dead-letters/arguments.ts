import { parseArgs } from 'node:util'
import { parsePlace } from '../../stream/record.ts'
import { OperationError } from '../operation-error.ts'
import { meansYes } from '../terminal.ts'

const usage = `dead-letters [list [GROUP]]             what could not be handled, by reason and app; or the entries of a group
dead-letters show ID [--values]         one of them; --values shows personal data too
dead-letters resend ID|GROUP|all [--dry-run]   back to where it came from, what would not come back
dead-letters resend ID --edit | --file FILE    the same, edited in $EDITOR or in a file
dead-letters resend ID --attempt POSITION      only if the newest failed attempt is still the record at this position
--flag=yes and --flag=no say it in words; so do 1, true, and 0, false`

export type DeadLettersCommand =
  | { command: 'list'; what: string | undefined }
  | { command: 'show'; what: string; values: boolean }
  | {
      command: 'resend'
      what: string
      dryRun: boolean
      edit: boolean
      file: string | undefined
      /** Position of the record that the user looked at, as text. */
      attempt: string | undefined
    }

/** @throws {OperationError} with the usage */
export function readArguments(args: string[]): DeadLettersCommand {
  const { positionals, values } = parse(args)
  const [command = 'list', what, surplus] = positionals
  if (surplus !== undefined) throw misuse(`what is "${surplus}"?`)
  if (command === 'list') return { command, what }
  if (command !== 'show' && command !== 'resend') throw misuse(`unknown command ${command}`)
  if (!what) throw misuse('which one?')
  if (command === 'show') return { command, what, values: values.values }
  const { edit, file, attempt } = values
  if (attempt !== undefined && !parsePlace(attempt))
    throw misuse(`${attempt} is not a position: topic/partition/offset`)
  return { command, what, dryRun: values['dry-run'], edit, file, attempt }
}

function parse(args: string[]) {
  const flag = { type: 'boolean', default: false } as const
  const text = { type: 'string' } as const
  const options = { values: flag, 'dry-run': flag, edit: flag, file: text, attempt: text } as const
  try {
    return parseArgs({ args: args.flatMap(flagOf), allowPositionals: true, options })
  } catch (cause) {
    if (cause instanceof OperationError) throw cause
    throw misuse((cause as Error).message, cause)
  }
}

/** A Makefile passes on what a variable says: `--dry-run=0` is no flag. */
function flagOf(argument: string): string[] {
  const [, flag, word] = /^(--values|--dry-run|--edit)=(.*)$/s.exec(argument) ?? []
  if (flag === undefined || word === undefined) return [argument]
  const isMeant = meansYes(word)
  if (isMeant === undefined) throw misuse(`${argument} is neither yes nor no`)
  return isMeant ? [flag] : []
}

function misuse(message: string, cause?: unknown): OperationError {
  return new OperationError(message, { nextStep: usage, cause })
}
