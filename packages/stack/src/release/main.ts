import { parseArgs } from 'node:util'
import { CliError } from '../lib/error.ts'
import { services } from '../lib/services.ts'
import { type Context, type ContextOptions, createContext } from './context.ts'
import { exportService } from './export.ts'
import { followLogs } from './logs.ts'
import { listProcesses, openApp, startWeb, stopWeb } from './operations.ts'
import { readDryRun } from './operator.ts'
import { createOutput } from './output.ts'
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

const out = createOutput()
const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort())
// A reader may end early, as in `./orderflow app-logs NAME | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
// Ends at once, because an error message could not be written either.
process.stderr.on('error', () => process.exit(1))
// Masks secrets in errors. Node would print all fields of an error unmasked.
process.on('uncaughtException', fail)

/** Runs a command such as `release my-service --app NAME`. An option such as `--app` replaces a variable such as `APP`. */
async function run(args: string[]): Promise<void> {
  const { positionals, values } = readArguments(args)
  const [command = '(none)', name, surplus] = positionals
  const env = { ...process.env, ...values }
  if (surplus !== undefined) throw misuse(`unexpected argument "${surplus}"`, usageOf(command))
  if (command === 'release-topics') return await createTopics(env, out)
  if (command !== 'export' && !Object.hasOwn(commands, command)) {
    throw misuse(`unknown command ${command}`, `use one of export, ${Object.keys(commands).join(', ')}, release-topics`)
  }
  const service = services.find(({ role }) => role === name)
  if (!service) {
    const names = services.map(({ role }) => role).join(', ')
    throw misuse(
      name ? `unknown service ${name}` : 'the name of a service is missing',
      `./orderflow ${command} NAME; NAME is one of ${names}`,
    )
  }
  const options: ContextOptions = { service, env, out, signal: stopped.signal }
  if (command === 'export') return await exportService(service, env, out)
  await commands[command]?.(createContext(options, command))
}

function readArguments(args: string[]): { positionals: string[]; values: NodeJS.ProcessEnv } {
  const text = { type: 'string' } as const
  const options = { app: text, service: text, 'dry-run': { type: 'boolean' } } as const
  const flag = '--dry-run='
  const word = args.findLast((arg) => arg.startsWith(flag))?.slice(flag.length)
  try {
    const rest = args.filter((arg) => !arg.startsWith(flag))
    const { positionals, values } = parseArgs({ args: rest, options, allowPositionals: true })
    const dryRun = values['dry-run'] ? '1' : word
    const given = Object.entries({ APP: values.app, SERVICE: values.service, DRY_RUN: dryRun })
    return { positionals, values: Object.fromEntries(given.filter(([, value]) => value !== undefined)) }
  } catch (cause) {
    throw misuse((cause as Error).message, './orderflow help')
  }
}

const usageOf = (command: string) => `./orderflow ${command} --help`

function misuse(message: string, nextStep: string): CliError {
  return new CliError('usage', message, { nextStep })
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
