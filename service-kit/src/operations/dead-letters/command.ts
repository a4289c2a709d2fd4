import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { KafkaConnection } from '../kafka-connection.ts'
import { type LogReader, openLog } from '../log-reader.ts'
import { OperationError } from '../operation-error.ts'
import { printLines } from '../terminal.ts'
import { editEvent } from './edit.ts'
import { type Entry, newestAttempt, openAttempt, readDeadLetters, selectEntries } from './entries.ts'
import { replayDeadLetters } from './replay.ts'
import { entryLines, entryTable, groupLines, outcomeLines, summaryLines } from './report.ts'

const usage = `dead-letters [list [GROUP]]                what could not be handled, by reason and app; or the entries of a group
dead-letters show ID [--values]            one of them; --values shows personal data too
dead-letters replay ID|GROUP|all [--dry-run]   publish to where it came from, what would not come back
dead-letters replay ID --edit | --file FILE    the same, edited in $EDITOR or in a file`

/** Runs `dead-letters` and returns the exit code: 1 when something was refused that should have been replayed. */
export async function deadLettersCommand(args: string[], kafka: KafkaConnection): Promise<number> {
  const { positionals, values } = readArguments(args)
  const [command = 'list', what, ...rest] = positionals
  if (rest.length > 0) throw new OperationError(`what is "${rest.join(' ')}"?`, { nextStep: usage })
  const log = openLog(kafka)
  try {
    const letters = await readDeadLetters(log)
    switch (command) {
      case 'list':
        printLines(what ? entryTable(selectEntries(letters.entries, what)) : groupLines(letters))
        return 0
      case 'show': {
        const entry = only(selectEntries(letters.entries, required(what)))
        printLines(entryLines(entry, await log.at(newestAttempt(entry).stands), values.values))
        return 0
      }
      case 'replay': {
        const chosen = selectEntries(letters.entries, required(what))
        return await replay(kafka, chosen, values['dry-run'], await editedEvent(log, chosen, values))
      }
      default:
        throw new OperationError(`unknown command ${command}`, { nextStep: usage })
    }
  } finally {
    await log.close()
  }
}

async function replay(kafka: KafkaConnection, chosen: Entry[], dryRun: boolean, edited: Buffer | undefined) {
  const counts = { replayed: 0, ready: 0, refused: 0, done: 0 }
  for await (const outcome of replayDeadLetters(kafka, chosen, { dryRun, edited })) {
    counts[outcome.result] += 1
    printLines(outcomeLines(outcome))
  }
  printLines(summaryLines(counts, dryRun))
  return counts.refused > 0 && !dryRun ? 1 : 0
}

/** The edited event, when one is asked for. */
async function editedEvent(
  log: LogReader,
  chosen: Entry[],
  { edit, file }: { edit: boolean; file?: string | undefined },
): Promise<Buffer | undefined> {
  if (!edit && file === undefined) return undefined
  const attempt = openAttempt(only(chosen))
  if (!attempt)
    throw new OperationError('it was replayed and has not failed since', { nextStep: 'make dead-letters SHOW=ID' })
  if (file !== undefined) return readEvent(file)
  const letter = await log.at(attempt.stands)
  return editEvent(letter?.value ?? Buffer.alloc(0), process.env)
}

function readEvent(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw new OperationError(`${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

function readArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        values: { type: 'boolean', default: false },
        'dry-run': { type: 'boolean', default: false },
        edit: { type: 'boolean', default: false },
        file: { type: 'string' },
      },
    })
  } catch (cause) {
    throw new OperationError((cause as Error).message, { nextStep: usage, cause })
  }
}

function required(what: string | undefined): string {
  if (what) return what
  throw new OperationError('which one?', { nextStep: usage })
}

function only(entries: Entry[]): Entry {
  const [entry, ...others] = entries
  if (entry && others.length === 0) return entry
  throw new OperationError('this is for one dead letter, not a group', { nextStep: 'give its id' })
}
