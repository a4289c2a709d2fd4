import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Io } from '../../src/cli/io.ts'

export interface Outcome {
  code: number
  out: string
  error: string
}

/** Runs a command. It gets standard input in chunks, and only the given environment variables. */
export async function run(
  command: (args: string[], io: Io) => Promise<number>,
  args: string[],
  { input = [], env = {} }: { input?: (string | Uint8Array)[]; env?: NodeJS.ProcessEnv } = {},
): Promise<Outcome> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const texts = Promise.all([text(stdout), text(stderr)])
  const stdin = Readable.from(input.map((chunk) => Buffer.from(chunk)))
  try {
    const code = await command(args, { env, stdin, stdout, stderr, signal: new AbortController().signal })
    stdout.end()
    stderr.end()
    const [out, error] = await texts
    return { code, out, error }
  } finally {
    stdout.end()
    stderr.end()
  }
}

export async function usageError(promise: Promise<unknown>): Promise<string> {
  const outcome = await promise.catch((error: Error) => error)
  return outcome instanceof Error && outcome.name === 'UsageError' ? outcome.message : `no usage error: ${outcome}`
}
