import { parseArgs } from 'node:util'
import { describeProblem, EnvelopeError } from './error.ts'
import { nearMissIn } from './near-miss.ts'
import { parseEnvelope, parseEvent, parseFullEnvelope } from './parse.ts'
import { knownVersions } from './schemas.ts'

const usage = `Usage: node envelope-schema/src/cli.ts validate [--received] FILE...
Checks that each FILE (- is standard input) holds a known event in the full envelope, as a publisher must send it.
  --received   check it by the tolerant rules of a receiver instead
Exits with 0 if all are right, with 1 if not, with 2 if called wrongly.
`

/** What the command reads and writes. */
export interface CommandIo {
  /** The bytes of a file; those of standard input for `-`. */
  read: (file: string) => Uint8Array
  print: (line: string) => void
  printUsage: (text: string) => void
}

/** The command line: prints what each file is. Answers the exit code. */
export function runCommand(args: string[], io: CommandIo): number {
  const { positionals = [], values } = readArguments(args) ?? {}
  const [command, ...files] = positionals
  if (command !== 'validate' || files.length === 0) {
    io.printUsage(usage)
    return 2
  }
  const passed = files.map((file) => validate(file, values?.received ?? false, io))
  return passed.every(Boolean) ? 0 : 1
}

function readArguments(args: string[]) {
  try {
    return parseArgs({ args, options: { received: { type: 'boolean' } }, allowPositionals: true })
  } catch {
    return undefined
  }
}

/** Prints what `file` is; true if it passes. */
function validate(file: string, received: boolean, { read, print }: CommandIo): boolean {
  try {
    print(`${file}: ${verdict(read(file), received)}`)
    return true
  } catch (error) {
    if (error instanceof EnvelopeError) {
      print([`${file}: ${error.code}`, ...error.problems.map(describeProblem)].join('\n  '))
    } else {
      print(`${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`)
    }
    return false
  }
}

/** What to print of a document that passes. */
function verdict(bytes: Uint8Array, received: boolean): string {
  try {
    const { Name, Version } = received ? parseEvent(bytes) : parseFullEnvelope(bytes)
    return `ok ${Name} ${Version} (${received ? 'received' : 'full'})`
  } catch (error) {
    if (received && error instanceof EnvelopeError && error.code === 'unknown-event' && isForeign(bytes))
      return 'ok (received; not a known event, so the Payload was not checked)'
    throw error
  }
}

const nearMiss = nearMissIn(knownVersions.keys())

/** Whether a receiver lets an unknown event pass, whose envelope is right: as long as none was probably meant to be it. */
function isForeign(bytes: Uint8Array): boolean {
  return nearMiss(parseEnvelope(bytes).Name) === undefined
}
