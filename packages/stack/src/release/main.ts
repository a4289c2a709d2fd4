import { services } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { type Context, createContext } from './context.ts'
import { exportService } from './export.ts'
import { followLogs } from './logs.ts'
import { listProcesses, openApp, startWeb, stopWeb } from './operations.ts'
import { createOutput } from './output.ts'
import { readDryRun } from './platform/operator.ts'
import { withAppLock } from './record.ts'
import { release } from './release.ts'
import { rollback } from './rollback.ts'
import { createTopics } from './topics.ts'

const commands: Record<string, (context: Context) => Promise<void>> = {
  release: (context) => alone(context, release),
  rollback: (context) => alone(context, rollback),
  ps: listProcesses,
  stop: stopWeb,
  start: startWeb,
  open: openApp,
  'app-logs': followLogs,
}

// This program has a process of its own, which masks secrets in all output.
const out = createOutput()
const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort())
// A reader may end early, as in `./orderflow app-logs NAME | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
// Ends at once, because an error message could not be written either.
process.stderr.on('error', () => process.exit(1))
// Masks secrets in errors. Node would print all fields of an error unmasked.
process.on('uncaughtException', fail)

/** Runs a command such as `release my-service`. Variables such as `APP` contain its options. */
async function run([command = '', name]: string[]): Promise<void> {
  const { env } = process
  if (command === 'release-topics') return await createTopics(env, out)
  const service = services.find(({ role }) => role === name)
  if (!service) {
    const names = services.map(({ role }) => role).join(', ')
    throw new CliError('usage', name ? `unknown service ${name}` : 'the name of a service is missing', {
      nextStep: `./orderflow ${command} NAME; NAME is one of ${names}`,
    })
  }
  if (command === 'export') return await exportService(service, env, out)
  await commands[command]?.(createContext({ service, env, out, signal: stopped.signal }, command))
}

/** Runs `work` with a lock for the app. With `DRY_RUN`, `work` only shows the changes. */
async function alone(context: Context, work: (context: Context, options: { dryRun: boolean }) => Promise<void>) {
  const { env } = context
  const { app } = context.operator
  const dryRun = readDryRun(env)
  const onWait = (pid: number) => out.complain(`waiting: process ${pid} is releasing ${app}`)
  await withAppLock({ app, env, onWait }, () => work(context, { dryRun }))
}

function fail(error: unknown): void {
  const isKnown = error instanceof CliError
  out.complain(isKnown ? `error: ${error.message}` : String((error as Error)?.stack ?? error))
  if (isKnown && error.nextStep) out.complain(`next: ${error.nextStep}`)
  process.exitCode = isKnown && error.code === 'interrupted' ? 130 : 1
}

await run(process.argv.slice(2)).catch(fail)
