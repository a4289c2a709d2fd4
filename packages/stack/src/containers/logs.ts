import { writeSync } from 'node:fs'
import { attempt } from '../base/attempt.ts'
import type { CliError } from '../base/error.ts'
import { type LogOptions, logLines } from '../base/terminal.ts'
import { compose } from './docker.ts'
import { composeFiles } from './replicas.ts'

export async function logs(names: readonly string[], { follow, signal }: LogOptions): Promise<void> {
  const args = ['logs', '--tail', String(logLines), ...(follow ? ['--follow'] : []), ...names]
  await compose(composeFiles(), args, signal).catch((error: CliError) => {
    // The reader of the output may have ended, as in `make logs | head`.
    if (error.code !== 'interrupted' && attempt(() => writeSync(1, '\n')) !== undefined) throw error
  })
}
