import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogReader } from '@orderflow/kafka-log'
import { OperationError, printLines } from '../terminal.ts'
import type { Consuming } from './effects.ts'
import type { Entry } from './entries.ts'
import { outcomesOf } from './outcomes.ts'
import { prettyIfSame } from './report.ts'

/** The file with an edit, and the position of the attempt that it edits. */
interface EditedFile {
  file: string
  attempt: string
}

/** Prints the outcome of an edited event in each service. @throws {OperationError} if the edit contradicts the data of a service */
export type EditCheck = (entry: Entry, edited: Buffer, at: EditedFile) => Promise<void>

export function createEditCheck(
  log: LogReader,
  services: readonly Consuming[],
  all: readonly Entry[],
  { dryRun, contradict }: { dryRun: boolean; contradict: boolean },
): EditCheck {
  return async (entry, edited, { file, attempt }) => {
    const { lines, contradicted } = await outcomesOf(log, services, { entry, all, edited })
    printLines(lines)
    if (contradicted.length === 0 || contradict || dryRun) return
    throw new OperationError(`the edit contradicts the data of ${contradicted.join(', ')}; it was not published`, {
      nextStep: [
        'restore the named fields,',
        `or run ./orderflow dead-letters replay ${entry.id} --file ${file} --attempt ${attempt} --contradict,`,
        'and correct these services by another event',
      ].join(' '),
    })
  }
}

interface EditChecks {
  /** Returns the reasons why an edited event would be refused. */
  refusalOf: (after: Buffer) => string[]
  /** Returns the position of the new record if the attempt was replayed during the edit. */
  replayOf: () => Promise<string | undefined>
  check: (after: Buffer, at: EditedFile) => Promise<void>
}

/**
 * Opens an event in an editor ($VISUAL or $EDITOR) and returns the saved bytes. If the edited event is refused, the file remains, and the error names
 * the file.
 * @param attempt the position of the failed record
 * @throws {OperationError}
 */
export async function editEvent(
  value: Buffer,
  env: NodeJS.ProcessEnv,
  attempt: string,
  { refusalOf, replayOf, check }: EditChecks,
): Promise<Buffer> {
  const editor = env.VISUAL || env.EDITOR
  if (!editor) {
    throw new OperationError('no editor is configured', {
      nextStep: 'set EDITOR, or name a file with the edited event: FILE=event.json',
    })
  }
  const folder = mkdtempSync(join(tmpdir(), 'dead-letter-'))
  const file = join(folder, 'event.json')
  const text = value.toString()
  const before = Buffer.from(text).equals(value) ? Buffer.from(prettyIfSame(text)) : value
  writeFileSync(file, before, { mode: 0o600 })
  // A shell runs the editor, so EDITOR may contain arguments, as in git: EDITOR="code --wait".
  const { status, error } = spawnSync('sh', ['-c', `${editor} "$1"`, editor, file], { stdio: 'inherit' })
  const after = readFileSync(file)
  if (!error && status === 0 && !after.equals(before)) {
    const why = refusalOf(after)
    if (why.length > 0) {
      throw new OperationError(`the edited event would be refused again:\n  ${why.join('\n  ')}`, {
        nextStep: `fix ${file}, replay it with FILE=${file} ATTEMPT=${attempt}, then remove it, because it contains personal data`,
      })
    }
    const replay = await replayOf()
    if (replay !== undefined) {
      throw new OperationError(
        `${attempt} was replayed as ${replay} while you edited it; your edit was not published`,
        {
          nextStep: `make dead-letters SHOW=ID shows whether the replay failed; your edit is in ${file}. Remove this file, because it contains personal data`,
        },
      )
    }
    await check(after, { file, attempt })
  }
  rmSync(folder, { recursive: true })
  if (error || status !== 0)
    throw new OperationError(`${editor} failed`, { nextStep: 'set EDITOR to an installed editor' })
  if (after.equals(before)) throw new OperationError('the event is unchanged, so it is not replayed')
  return after
}
