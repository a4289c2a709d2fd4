import { StackError } from '@orderflow/stack'
import { type Context, type ContextOptions, createContext } from './commands/context.ts'
import { exportService } from './commands/export.ts'
import { followLogs } from './commands/logs.ts'
import { listProcesses, openApp, startWeb, stopWeb } from './commands/operations.ts'
import { release } from './commands/release.ts'
import { rollback } from './commands/rollback.ts'
import { createTopics } from './commands/topics.ts'
import { ReleaseError } from './lib/error.ts'
import { createOutput } from './lib/output.ts'
import { withAppLock } from './record/lock.ts'
import { findService, services } from './settings/services.ts'

const dryRun = Boolean(process.env.DRY_RUN) && process.env.DRY_RUN !== '0'

/** What changes an app holds its lock. */
const commands: Record<string, (context: Context) => Promise<void>> = {
  release: (context) => withAppLock(context, () => release(context, { dryRun })),
  rollback: (context) => withAppLock(context, () => rollback(context, { dryRun })),
  ps: listProcesses,
  stop: stopWeb,
  start: startWeb,
  open: openApp,
  logs: followLogs,
}

const out = createOutput()
const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort())
// A reader that leaves early (make logs-order | head) is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
// What fails has nowhere to be told, and telling that would fail as well, for ever.
process.stderr.on('error', () => process.exit(1))
// Node would print an error with all that hangs on it, unmasked.
process.on('uncaughtException', fail)

/** Runs one command of the Makefile, such as release-order. */
async function run(argument: string): Promise<void> {
  if (argument === 'release-topics') return await createTopics(process.env, out)
  // A service's name may have dashes, a command's has none.
  const [, command = '', name = ''] = /^(\w+)-(.+)$/.exec(argument) ?? []
  const service = findService(name)
  const known = ['export', ...Object.keys(commands)]
  if (!service || !known.includes(command)) {
    throw new ReleaseError('usage', `unknown command ${argument}`, {
      nextStep: `one of ${known.join(', ')}, a dash, and one of ${services.map((one) => one.name).join(', ')}`,
    })
  }
  const options: ContextOptions = { service, env: process.env, out, signal: stopped.signal }
  if (command === 'export') return await exportService(service, process.env, out)
  await commands[command]?.(createContext(options, command))
}

function fail(error: unknown): void {
  const isKnown = error instanceof ReleaseError || error instanceof StackError
  out.complain(isKnown ? `error: ${error.message}` : String((error as Error)?.stack ?? error))
  if (isKnown && error.nextStep) out.complain(`next: ${error.nextStep}`)
  process.exitCode = isKnown && error.code === 'interrupted' ? 130 : 1
}

await run(process.argv[2] ?? '').catch(fail)
