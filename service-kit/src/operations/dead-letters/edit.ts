import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OperationError } from '../operation-error.ts'
import { prettyIfSame } from './shown.ts'

/**
 * Opens an event in $VISUAL or $EDITOR and returns what was saved. An edit that would be refused is kept in its file, which
 * the error names.
 * @param refusalOf why an event would be refused, in one line for each problem
 * @throws {OperationError} nothing was changed, the editor failed, or the event is still wrong
 */
export function editEvent(value: Buffer, env: NodeJS.ProcessEnv, refusalOf: (after: Buffer) => string[]): Buffer {
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
  const why = refusalOf(after)
  if (!error && status === 0 && !after.equals(before) && why.length > 0) {
    throw new OperationError(`the edited event would be refused again:\n  ${why.join('\n  ')}`, {
      nextStep: `mend ${file}, resend it with FILE=${file}, and remove it then: it has personal data`,
    })
  }
  rmSync(folder, { recursive: true })
  if (error || status !== 0) throw new OperationError(`${editor} failed`, { nextStep: 'set EDITOR to one that runs' })
  if (after.equals(before)) throw new OperationError('nothing was changed, so nothing is resent')
  return after
}
