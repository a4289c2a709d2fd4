import { diskFullError, isDiskFull } from './lib/disk-full.ts'
import { StackError } from './lib/error.ts'
import { localFolder } from './lib/paths.ts'

type Command = (args: string[]) => Promise<number | undefined> | Promise<void>

const ofStack = () => import('./commands/commands.ts')
const ofOperator = () => import('./commands/operate.ts')
const ofEngine = () => import('./containers/provision-commands.ts')

/** The commands of the Makefile. Each loads what it needs when it is run: all of it together takes a second. */
const commands: Record<string, Command> = {
  up: async () => (await ofStack()).up(process.env, interruption()),
  observe: async () => (await import('./commands/observe.ts')).observe(process.env, interruption()),
  down: async () => (await ofStack()).down(),
  status: async () => (await ofStack()).status(),
  logs: async ([name]) => (await ofStack()).logs(name, process.env, interruption()),
  clean: async () => (await ofStack()).clean(),
  scale: async ([service = '', count = '']) => (await ofStack()).scale(service, count, interruption()),
  restart: async ([service]) => (await ofStack()).restart(service, interruption()),
  partitions: async () => (await import('./commands/partitions.ts')).partitions(process.env),
  retention: async ([days]) => (await import('./commands/retention.ts')).retention(days, process.env),
  'api-key': async () => (await import('./commands/api-key.ts')).apiKey(process.env),
  demo: async () => (await import('./commands/demo.ts')).demo(process.env),
  publish: async ([file, key]) => {
    if (!file) throw new StackError('usage', 'which file?', { nextStep: 'make publish FILE=event.json' })
    const [{ publish }, { saysYes }] = await Promise.all([import('./commands/publish.ts'), import('./lib/says-yes.ts')])
    await publish({ file, key, raw: saysYes(process.env, 'RAW') })
  },
  publisher: async ([name]) => (await import('./commands/publisher.ts')).publisher(name, process.env),
  acls: async ([name]) => (await import('./commands/acls.ts')).acls(name),
  'dead-letters': async (args) => (await ofOperator()).deadLetters(args),
  rebuild: async ([service, ...range]) => (await ofOperator()).rebuild(service, range),
  generate: async () => (await import('./commands/generate.ts')).generate(),
  lint: async () => (await import('./commands/lint.ts')).lint(process.env, interruption()),
  hashes: async () => (await import('./commands/hashes.ts')).writeHashes(interruption()),
  sbom: async () => (await import('./commands/sbom.ts')).writeSbom(),
  'new-service': async ([name = '']) => (await import('./commands/new-service.ts')).newService(name),
  doctor: async () => (await import('./commands/doctor.ts')).doctor(process.env, interruption()),
  provision: async (args) => {
    const [{ provision, testToolsOf }, { timed }] = await Promise.all([
      import('./provision/provision.ts'),
      import('./lib/terminal.ts'),
    ])
    await provision({ onProgress: timed(), tests: testToolsOf(args), signal: interruption() })
  },
  engine: async () => (await ofEngine()).engine(interruption()),
  images: async () => (await ofEngine()).images(interruption()),
}

/** Runs one command and returns the exit code. */
async function run([name = '(none)', ...args]: string[]): Promise<number> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command) return (await command(args)) ?? 0
  throw new StackError('usage', `unknown command ${name}`, {
    nextStep: `one of ${Object.keys(commands).join(', ')}`,
  })
}

/** Ctrl-C once ends the command in an orderly way, twice at once. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
  return controller.signal
}

// A reader that leaves early (make up | head) must not end the command in the middle of its work.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return
  process.stderr.write(`error: the output cannot be written: ${error.message}\n`)
  process.exit(1)
})
try {
  process.exitCode = await run(process.argv.slice(2))
} catch (failure) {
  const error = isDiskFull(failure)
    ? diskFullError((failure as NodeJS.ErrnoException).path ?? localFolder, failure)
    : failure
  if (!(error instanceof StackError)) throw error
  process.stderr.write(`error: ${error.message}\n`)
  if (error.nextStep) process.stderr.write(`next: ${error.nextStep}\n`)
  process.exitCode = error.code === 'interrupted' ? 130 : 1
}
