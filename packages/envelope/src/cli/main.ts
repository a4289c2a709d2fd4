#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import type { Io } from './io.ts'
import { didYouMean, UsageError } from './usage.ts'

interface Command {
  summary: string
  /** Loads this command. Modules of other commands are not loaded. */
  load: () => Promise<{ help: string; run: (args: string[], io: Io) => Promise<number> }>
}

const commands: Record<string, Command> = {
  validate: { summary: 'list the problems of envelopes', load: () => import('./validate.ts') },
  new: { summary: 'make a full envelope from a Payload', load: () => import('./new.ts') },
  publish: { summary: 'publish envelopes to Kafka', load: () => import('./publish.ts') },
  tail: { summary: 'follow a topic, with personal values masked', load: () => import('./tail.ts') },
  compat: { summary: 'compare the schemas with an earlier state', load: () => import('./compat.ts') },
}

const names = Object.keys(commands)
const help = `Usage: envelope COMMAND [OPTIONS] [FILE...]

${names.map((name) => `  ${name.padEnd(9)} ${commands[name]?.summary}`).join('\n')}

Run envelope COMMAND --help for the options of a command, and envelope --version for the version.

Exit code 3: the output cannot be written, for example because a disk is full. Each command lists its other exit codes.
`

async function main([name, ...args]: string[], io: Io): Promise<number> {
  if (name === '--help' || name === '-h' || name === 'help') return print(help, io)
  if (name === '--version' || name === '-v' || name === 'version') return print(`envelope ${version()}\n`, io)
  if (name === undefined) throw new UsageError(`no command: use one of ${names.join(', ')}`)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command)
    throw new UsageError(`unknown command ${name}${didYouMean(name, names)}; use one of ${names.join(', ')}`)
  const { help: own, run } = await command.load()
  return args.includes('--help') || args.includes('-h') ? print(own, io) : await run(args, io)
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}

function print(text: string, { stdout }: Io): number {
  stdout.write(text)
  return 0
}

const { env, stdin, stdout, stderr } = process
const controller = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // The reader closed the pipe early, as in `envelope validate … | head`.
    if (error.code === 'EPIPE') process.exit()
    // Other errors: for example, the disk is full.
    if (stream === stdout) stderr.write(`envelope: the output cannot be written: ${error.message}\n`)
    process.exit(3)
  })
}
try {
  process.exitCode = await main(process.argv.slice(2), { env, stdin, stdout, stderr, signal: controller.signal })
} catch (error) {
  // Compares the names of errors, because only some commands load the modules with their classes.
  const isKnown = error instanceof UsageError || ['ClientMissingError', 'ContractError'].includes((error as Error).name)
  if (!isKnown) throw error
  stderr.write(`envelope: ${(error as Error).message}\n`)
  process.exitCode = 2
}
