import { readFileSync } from 'node:fs'
import { deadLetterTopic } from '@orderflow/envelope'
import {
  type KafkaConnection,
  type LogReader,
  openLog,
  parsePosition,
  positionText,
  protocolErrors,
} from '@orderflow/kafka-log'
import { missingTopic } from '../../stream/publishing/topic-settings.ts'
import type { Trust } from '../../trust/trust.ts'
import { type GroupLock, withGroupLock } from '../group-lock.ts'
import { meansYes, OperationError, parseArguments, printLines } from '../terminal.ts'
import { createEditCheck, type EditCheck, editEvent } from './edit.ts'
import type { Consuming } from './effects.ts'
import { currentAttempt, type Entry, newestAttempt, openAttempt, readDeadLetters, selectEntries } from './entries.ts'
import { deadLetterEnds, followNotes, lost, readEvent } from './records.ts'
import { type ReplayOptions, replayDeadLetters } from './replay.ts'
import { checkReplay } from './replay-record.ts'
import { entryLines, entryTable, groupLines, outcomeLines, summaryLines } from './report.ts'

/** Runs the command `dead-letters` and returns the exit code: 1 if a replay was refused. */
export async function deadLettersCommand(
  args: string[],
  kafka: KafkaConnection,
  trust: Trust,
  services: readonly Consuming[],
): Promise<number> {
  const asked = readArguments(args)
  const log = openLog(kafka)
  try {
    const readUpTo = await deadLetterEnds(log)
    const deadLetters = await readDeadLetters(log)
    printLines(await missingTopics(log, services))
    if (asked.command === 'list') {
      printLines(asked.what ? entryTable(selectEntries(deadLetters.entries, asked.what)) : groupLines(deadLetters))
      return 0
    }
    const chosen = selectEntries(deadLetters.entries, asked.what)
    if (asked.command === 'replay') {
      requireAttempt(chosen, asked)
      // The current attempts are determined before the operator edits the event, because another replay may add an attempt during the edit.
      const attempts = new Map(chosen.map((entry) => [entry.id, positionText(currentAttempt(entry).position)]))
      const check = createEditCheck(log, services, deadLetters.entries, asked)
      const edited = await editedEvent(log, chosen, asked, { trust, readUpTo, check })
      return await replayAll(kafka, chosen, asked.dryRun, { edited, trust, readUpTo, attempts })
    }
    const entry = only(chosen)
    printLines(entryLines(entry, await readEvent(log, newestAttempt(entry)), asked.values))
    return 0
  } finally {
    await log.close()
  }
}

/** Returns a line for each missing dead-letter topic. Invalid events wait until the topic exists, so the list of dead letters lacks them. */
export async function missingTopics(
  log: Pick<LogReader, 'topics'>,
  services: readonly Pick<Consuming, 'consumes'>[],
): Promise<string[]> {
  const existing = await log.topics()
  const wanted = new Set(services.flatMap(({ consumes }) => consumes.map(deadLetterTopic)))
  return [...wanted].filter((topic) => !existing.includes(topic)).map(missingTopic)
}

type ReplayCommand = Extract<ReturnType<typeof readArguments>, { command: 'replay' }>

/** Replays while no other command does, because both could read the notes before either has written its own. */
async function replayAll(
  kafka: KafkaConnection,
  chosen: Entry[],
  dryRun: boolean,
  options: Omit<ReplayOptions, 'dryRun'>,
): Promise<number> {
  async function replay(lock?: GroupLock): Promise<number> {
    const counts = { replayed: 0, ready: 0, refused: 0, done: 0 }
    for await (const outcome of replayDeadLetters(kafka, chosen, { ...options, dryRun })) {
      counts[outcome.result] += 1
      printLines(outcomeLines(outcome))
      await lock?.requireHeld()
    }
    printLines(summaryLines(counts, dryRun))
    const unsent = counts.refused + (options.edited ? counts.done : 0)
    return unsent > 0 && !dryRun ? 1 : 0
  }
  if (dryRun) return await replay()
  const onWait = () => printLines(['waiting for another command, which replays dead letters or was killed'])
  const lock = { group: 'orderflow-replay', holder: 'replay of dead letters', onWait }
  try {
    return await withGroupLock(kafka, lock, replay)
  } catch (error) {
    if (!protocolErrors(error).includes('GROUP_AUTHORIZATION_FAILED')) throw error
    printLines([`warning: Kafka denies the group ${lock.group}, so two commands at the same time may replay twice`])
    return await replay()
  }
}

/**
 * Checks the attempt that a command names: it must be the current attempt. If an entry has several attempts, a command with an edited file must name
 * the attempt, because the file may come from any of them.
 * @throws {OperationError}
 */
function requireAttempt(chosen: Entry[], { attempt, file }: ReplayCommand): void {
  if (attempt === undefined && file === undefined) return
  const entry = only(chosen)
  const newest = positionText(currentAttempt(entry).position)
  if (attempt === undefined && entry.attempts.length > 1) {
    throw new OperationError(
      `this dead letter has ${entry.attempts.length} attempts, and the file may be an edit of any of them`,
      {
        nextStep: `add ATTEMPT=${newest} if you edited the newest attempt; make dead-letters SHOW=${entry.id} shows all attempts`,
      },
    )
  }
  if (attempt !== undefined && attempt !== newest) {
    throw new OperationError(`${attempt} is no longer the newest attempt; the newest is ${newest}`, {
      nextStep: `view it with make dead-letters SHOW=${entry.id}, and replay that attempt`,
    })
  }
}

async function editedEvent(
  log: LogReader,
  chosen: Entry[],
  { edit, file }: ReplayCommand,
  { trust, readUpTo, check }: Pick<ReplayOptions, 'trust' | 'readUpTo'> & { check: EditCheck },
): Promise<Buffer | undefined> {
  if (!edit && file === undefined) return undefined
  const entry = only(chosen)
  const attempt = openAttempt(entry)
  if (!attempt) throw new OperationError('this dead letter was replayed and has not failed since')
  const { topic } = attempt.origin
  const refusalOf = (value: Buffer) => {
    const checked = checkReplay({ topic, value, reason: undefined, signature: undefined, isVouchedFor: true }, trust)
    return 'why' in checked ? checked.why : []
  }
  if (file !== undefined) {
    const value = readBytes(file)
    // The replay reports an invalid event itself, with the outcome of the entry.
    if (refusalOf(value).length === 0) await check(entry, value, { file, attempt: positionText(attempt.position) })
    return value
  }
  const event = await readEvent(log, attempt)
  if (!event?.value) throw new OperationError(lost, { nextStep: 'name a file with the event: FILE=event.json' })
  const replayOf = async () => {
    const notes = followNotes(log, readUpTo)
    await notes.catchUp([topic])
    const note = notes.noteOf(attempt)
    return note && positionText(note.as)
  }
  return await editEvent(event.value, process.env, positionText(attempt.position), {
    refusalOf,
    replayOf,
    check: (value, at) => check(entry, value, at),
  })
}

function readBytes(file: string): Buffer {
  try {
    // The name `-` means the standard input.
    return readFileSync(file === '-' ? 0 : file)
  } catch (cause) {
    throw new OperationError(`${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

function only(entries: Entry[]): Entry {
  const [entry, ...others] = entries
  if (entry && others.length === 0) return entry
  throw new OperationError('this command takes one dead letter, not a group', {
    nextStep: 'name the id of the dead letter',
  })
}

const usage = `dead-letters [list [GROUP]]             List the groups of dead letters, or the entries of a group
dead-letters show ID [--values]         Show one entry; --values also shows personal data
dead-letters replay ID|GROUP|all [--dry-run]   Publish events again to their topics, unless they would fail again
dead-letters replay ID --edit | --file FILE    Replay an event that you edit in $EDITOR or in a file
dead-letters replay ID --attempt POSITION      Replay this attempt, if it is the newest
dead-letters replay ID --contradict ...        Replay an edit even if it contradicts the data of a service
Flags also take a word, such as yes or no: --dry-run=yes`

export function readArguments(args: string[]) {
  const flag = { type: 'boolean', default: false } as const
  const text = { type: 'string' } as const
  const options = { values: flag, 'dry-run': flag, edit: flag, contradict: flag, file: text, attempt: text } as const
  const { positionals, values } = parseArguments({ args: args.flatMap(flagOf), allowPositionals: true, options }, usage)
  const [command = 'list', what, surplus] = positionals
  if (surplus !== undefined) throw misuse(`unexpected argument "${surplus}"`)
  if (command === 'list') return { command, what } as const
  if (command !== 'show' && command !== 'replay') throw misuse(`unknown command ${command}`)
  if (!what) throw misuse('name an id, a group or all')
  if (command === 'show') return { command, what, values: values.values } as const
  const { edit, file, attempt, contradict } = values
  if (attempt !== undefined && !parsePosition(attempt))
    throw misuse(`${attempt} is not a position: write topic/partition/offset`)
  return { command, what, dryRun: values['dry-run'], edit, file, attempt, contradict } as const
}

/** Returns a flag without its value. A flag with a value such as `0` is left out: the Makefile passes the value of DRY_RUN as `--dry-run=0`. */
function flagOf(argument: string): string[] {
  const [, flag, word] = /^(--values|--dry-run|--edit|--contradict)=(.*)$/s.exec(argument) ?? []
  if (flag === undefined || word === undefined) return [argument]
  const isMeant = meansYes(word)
  if (isMeant === undefined) throw misuse(`${argument} is neither yes nor no`)
  return isMeant ? [flag] : []
}

function misuse(message: string): OperationError {
  return new OperationError(message, { nextStep: usage })
}
