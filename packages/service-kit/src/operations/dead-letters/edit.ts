import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OperationError } from '../operation-error.ts'
import { prettyIfSame } from './shown.ts'

/**
 * Opens an event in $VISUAL or $EDITOR and returns what was saved. An edit that is refused is kept in its file, which
 * the error names.
 * @param attempt position of the failed record, as text
 * @param refusalOf why an event would be refused, in one line for each problem
 * @param replayOf position of the record as which the attempt was replayed meanwhile, as text
 * @throws {OperationError} nothing was changed, the editor failed, the event is still wrong, or was replayed meanwhile
 */
export async function editEvent(
  value: Buffer,
  env: NodeJS.ProcessEnv,
  attempt: string,
  refusalOf: (after: Buffer) => string[],
  replayOf: () => Promise<string | undefined>,
): Promise<Buffer> {
  const editor = env.VISUAL || env.EDITOR
  if (!editor) {
    throw new OperationError('there is no editor', {
      nextStep: 'set EDITOR, or give the edited event with FILE=event.json',
    })
  }
  const folder = mkdtempSync(join(tmpdir(), 'dead-letter-'))
  const file = join(folder, 'event.json')
  const text = value.toString()
  const before = Buffer.from(text).equals(value) ? Buffer.from(prettyIfSame(text)) : value
  writeFileSync(file, before, { mode: 0o600 })
  // As git does it, so that an editor may have arguments: EDITOR="code --wait".
  const { status, error } = spawnSync('sh', ['-c', `${editor} "$1"`, editor, file], { stdio: 'inherit' })
  const after = readFileSync(file)
  if (!error && status === 0 && !after.equals(before)) {
    const why = refusalOf(after)
    if (why.length > 0) {
      throw new OperationError(`the edited event would be refused again:\n  ${why.join('\n  ')}`, {
        nextStep: `fix ${file}, replay it with FILE=${file} ATTEMPT=${attempt}, then remove it: it has personal data`,
      })
    }
    const replay = await replayOf()
    if (replay !== undefined) {
      throw new OperationError(`${attempt} was replayed as ${replay} while you edited it; your edit was not sent`, {
        nextStep: `make dead-letters SHOW=... shows whether it failed again; your edit is in ${file}, remove it: it has personal data`,
      })
    }
  }
  rmSync(folder, { recursive: true })
  if (error || status !== 0) throw new OperationError(`${editor} failed`, { nextStep: 'set EDITOR to one that runs' })
  if (after.equals(before)) throw new OperationError('nothing was changed, so nothing is resent')
  return after
}
