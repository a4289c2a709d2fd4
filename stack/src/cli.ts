import { clean, down, logs, scale, status, up } from './commands/commands.ts'
import { demo } from './commands/demo.ts'
import { generate } from './commands/generate.ts'
import { writeHashes } from './commands/hashes.ts'
import { lint } from './commands/lint.ts'
import { newService } from './commands/new-service.ts'
import { deadLetters, rebuild } from './commands/operate.ts'
import { publish } from './commands/publish.ts'
import { writeSbom } from './commands/sbom.ts'
import { engine, images } from './containers/provision-commands.ts'
import { StackError } from './lib/error.ts'
import { saysYes } from './lib/says-yes.ts'
import { timed } from './lib/terminal.ts'
import { provision } from './provision/provision.ts'

const commands = [
  'up',
  'down',
  'status',
  'logs',
  'clean',
  'scale',
  'demo',
  'publish',
  'dead-letters',
  'rebuild',
  'generate',
  'lint',
  'hashes',
  'sbom',
  'new-service',
  'provision',
  'engine',
  'images',
] as const

/** Runs one command of the Makefile and returns the exit code. */
async function run([command, ...args]: string[]): Promise<number> {
  switch (command as (typeof commands)[number]) {
    case 'up':
      await up(process.env, interruption())
      return 0
    case 'down':
      await down()
      return 0
    case 'status':
      return status()
    case 'logs':
      await logs(args[0])
      return 0
    case 'clean':
      await clean()
      return 0
    case 'scale':
      await scale(args[0] ?? '', args[1] ?? '', interruption())
      return 0
    case 'demo':
      await demo()
      return 0
    case 'publish': {
      const [file, key] = args
      if (!file) throw new StackError('usage', 'which file?', { nextStep: 'make publish FILE=event.json' })
      await publish({ file, key, raw: saysYes(process.env, 'RAW') })
      return 0
    }
    case 'dead-letters':
      return await deadLetters(args)
    case 'rebuild': {
      const [service, ...range] = args
      return await rebuild(service, range)
    }
    case 'generate':
      generate()
      return 0
    case 'new-service':
      await newService(args[0] ?? '')
      return 0
    case 'lint':
      return await lint(process.env, interruption())
    case 'hashes':
      await writeHashes(interruption())
      return 0
    case 'sbom':
      writeSbom()
      return 0
    case 'provision':
      await provision({ onProgress: timed(), browser: args.includes('browser'), signal: interruption() })
      return 0
    case 'engine':
      await engine(interruption())
      return 0
    case 'images':
      await images(interruption())
      return 0
    default:
      throw new StackError('usage', `unknown command ${command ?? '(none)'}`, {
        nextStep: `one of ${commands.join(', ')}`,
      })
  }
}

/** Ctrl-C once ends the command in an orderly way, twice at once. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
  return controller.signal
}

// A reader that leaves early (make up | head) must not end the command in the middle of its work.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})
try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof StackError)) throw error
  process.stderr.write(`error: ${error.message}\n`)
  if (error.nextStep) process.stderr.write(`next: ${error.nextStep}\n`)
  process.exitCode = error.code === 'interrupted' ? 130 : 1
}
