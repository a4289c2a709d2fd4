import { readFileSync } from 'node:fs'
import type { KafkaConnection } from '../../stream/kafka.ts'
import { placeText } from '../../stream/record.ts'
import type { Trust } from '../../trust/trust.ts'
import type { LogReader } from '../log-reader.ts'
import { openLog } from '../open-log.ts'
import { OperationError } from '../operation-error.ts'
import { printLines } from '../terminal.ts'
import { type DeadLettersCommand, readArguments } from './arguments.ts'
import { checkResend } from './check.ts'
import { editEvent } from './edit.ts'
import { currentAttempt, type Entry, newestAttempt, openAttempt, readDeadLetters } from './entries.ts'
import { lost, readEvent } from './event.ts'
import { selectEntries } from './groups.ts'
import { deadLetterEnds, followNotes } from './replay-notes.ts'
import { entryLines, entryTable, groupLines, outcomeLines, summaryLines } from './report.ts'
import { type ResendOptions, resendDeadLetters } from './resend.ts'

/** Runs `dead-letters` and returns the exit code: 1 when something was refused that should have been resent. */
export async function deadLettersCommand(
  args: string[],
  kafka: KafkaConnection,
  { trust, positionIdsBefore }: { trust: Trust; positionIdsBefore: number },
): Promise<number> {
  const asked = readArguments(args)
  const log = openLog(kafka)
  try {
    const readUpTo = await deadLetterEnds(log)
    const letters = await readDeadLetters(log)
    if (asked.command === 'list') {
      printLines(asked.what ? entryTable(selectEntries(letters.entries, asked.what)) : groupLines(letters))
      return 0
    }
    const chosen = selectEntries(letters.entries, asked.what)
    if (asked.command === 'resend') {
      requireAttempt(chosen, asked)
      // Before anybody edits: what is replayed meanwhile is another attempt.
      const attempts = new Map(chosen.map((entry) => [entry.id, placeText(currentAttempt(entry).place)]))
      const edited = await editedEvent(log, chosen, asked, { trust, readUpTo })
      return await resendAll(kafka, chosen, asked.dryRun, { edited, trust, readUpTo, attempts, positionIdsBefore })
    }
    const entry = only(chosen)
    printLines(entryLines(entry, await readEvent(log, newestAttempt(entry)), asked.values, positionIdsBefore))
    return 0
  } finally {
    await log.close()
  }
}

type ResendCommand = Extract<DeadLettersCommand, { command: 'resend' }>

async function resendAll(
  kafka: KafkaConnection,
  chosen: Entry[],
  dryRun: boolean,
  options: Omit<ResendOptions, 'dryRun'>,
): Promise<number> {
  const counts = { resent: 0, ready: 0, refused: 0, done: 0 }
  for await (const outcome of resendDeadLetters(kafka, chosen, { ...options, dryRun })) {
    counts[outcome.result] += 1
    printLines(outcomeLines(outcome))
  }
  printLines(summaryLines(counts, dryRun))
  const unsent = counts.refused + (options.edited ? counts.done : 0)
  return unsent > 0 && !dryRun ? 1 : 0
}

/**
 * A file may be an edit of any attempt that the entry had when somebody looked at it, so it is for the only one, or for a named one.
 * @throws {OperationError} the named attempt is not the one to replay now, or none is named of several
 */
function requireAttempt(chosen: Entry[], { attempt, file }: ResendCommand): void {
  if (attempt === undefined && file === undefined) return
  const entry = only(chosen)
  const newest = placeText(currentAttempt(entry).place)
  if (attempt === undefined && entry.attempts.length > 1) {
    throw new OperationError(
      `this dead letter has ${entry.attempts.length} attempts, and the file may be for any of them`,
      {
        nextStep: `add ATTEMPT=${newest} if you edited the newest one; make dead-letters SHOW=${entry.id} shows them all`,
      },
    )
  }
  if (attempt !== undefined && attempt !== newest) {
    throw new OperationError(`${attempt} is not the newest attempt any more: that is ${newest}`, {
      nextStep: `look at it with make dead-letters SHOW=${entry.id}, and replay that attempt`,
    })
  }
}

/** The edited event, when one is asked for. */
async function editedEvent(
  log: LogReader,
  chosen: Entry[],
  { edit, file }: ResendCommand,
  { trust, readUpTo }: Pick<ResendOptions, 'trust' | 'readUpTo'>,
): Promise<Buffer | undefined> {
  if (!edit && file === undefined) return undefined
  const attempt = openAttempt(only(chosen))
  if (!attempt) throw new OperationError('it was resent and has not failed since')
  if (file !== undefined) return readBytes(file)
  const event = await readEvent(log, attempt)
  if (!event?.value) throw new OperationError(lost, { nextStep: 'give the event with FILE=event.json' })
  const { topic } = attempt.origin
  const refusalOf = (value: Buffer) => {
    const checked = checkResend({ topic, value, reason: undefined, signature: undefined, isVouchedFor: true }, trust)
    return 'why' in checked ? checked.why : []
  }
  const replayOf = async () => {
    const notes = followNotes(log, readUpTo)
    await notes.catchUp([topic])
    const note = notes.noteOf(attempt)
    return note && placeText(note.as)
  }
  return await editEvent(event.value, process.env, placeText(attempt.place), refusalOf, replayOf)
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw new OperationError(`${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

function only(entries: Entry[]): Entry {
  const [entry, ...others] = entries
  if (entry && others.length === 0) return entry
  throw new OperationError('this is for one dead letter, not a group', { nextStep: 'give its id' })
}
