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
import { readDryRun } from './settings/dry-run.ts'
import { findService, services } from './settings/services.ts'

const commands: Record<string, (context: Context) => Promise<void>> = {
  release: (context) => alone(context, release),
  rollback: (context) => alone(context, rollback),
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

/** Runs what changes an app, or with `DRY_RUN` shows what it would change, with nobody else at it meanwhile. */
async function alone(context: Context, work: (context: Context, options: { dryRun: boolean }) => Promise<void>) {
  const { env } = context
  const { app } = context.operator
  const dryRun = readDryRun(env)
  const onWait = (pid: number) => out.complain(`waiting: process ${pid} is releasing ${app}`)
  await withAppLock({ app, env, onWait }, () => work(context, { dryRun }))
}

function fail(error: unknown): void {
  const isKnown = error instanceof ReleaseError || error instanceof StackError
  out.complain(isKnown ? `error: ${error.message}` : String((error as Error)?.stack ?? error))
  if (isKnown && error.nextStep) out.complain(`next: ${error.nextStep}`)
  process.exitCode = isKnown && error.code === 'interrupted' ? 130 : 1
}

await run(process.argv[2] ?? '').catch(fail)
