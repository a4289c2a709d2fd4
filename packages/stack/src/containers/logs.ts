import { writeSync } from 'node:fs'
import type { CliError } from '../base/error.ts'
import { type LogOptions, logLines } from '../base/terminal.ts'
import { compose } from './docker.ts'
import { composeFiles } from './replicas.ts'

export async function logs(names: readonly string[], { follow, signal }: LogOptions): Promise<void> {
  const args = ['logs', '--tail', String(logLines), ...(follow ? ['--follow'] : []), ...names]
  await compose(composeFiles(), args, signal).catch((error: CliError) => {
    if (error.code !== 'interrupted' && hasReader()) throw error
  })
}

/** Returns false if the reader of the output has ended, as in `make logs | head`. */
function hasReader(): boolean {
  try {
    writeSync(1, '\n')
    return true
  } catch {
    return false
  }
}
