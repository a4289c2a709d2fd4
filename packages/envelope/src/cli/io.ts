import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { type Findings, Splitter } from './splitter.ts'
import { UsageError } from './usage.ts'

/** Inputs and outputs of a command. */
export interface Io {
  env: NodeJS.ProcessEnv
  stdin: Readable & { isTTY?: boolean }
  stdout: Writable
  stderr: Writable & { isTTY?: boolean }
  /** Ends a command that follows a topic. */
  signal: AbortSignal
}

/** A file cannot be read. The command continues with the others. */
export class UnreadableError extends Error {
  override name = 'UnreadableError'
}

const chunkBytes = 2 ** 17

/** Writes a text and waits until the stream accepts more, so that memory stays bounded. */
export async function write(stream: Writable, text: string): Promise<void> {
  if (text !== '' && !stream.write(text)) await once(stream, 'drain')
}

/**
 * The files that a command line names.
 * @throws {UsageError} when it names none
 */
export function requireFiles(files: string[]): string[] {
  if (files.length === 0) throw new UsageError('which file? - is standard input')
  return files
}

/**
 * Reads the documents of a file, of standard input for `-`. Empty input is a flaw.
 * @param onChunk called when what was found in a chunk was told, and waited for
 * @throws {UnreadableError}
 */
export async function readDocuments(
  file: string,
  { stdin }: Pick<Io, 'stdin'>,
  findings: Findings,
  onChunk: () => Promise<void>,
): Promise<void> {
  let count = 0
  const splitter = new Splitter({
    // Many lines are found together only after one that was found by itself.
    ...findings,
    onDocument(bytes, line) {
      count++
      findings.onDocument(bytes, line)
    },
    onFlaw(flaw, line) {
      count++
      findings.onFlaw(flaw, line)
    },
  })
  const stream = file === '-' ? stdin : createReadStream(file, { highWaterMark: chunkBytes })
  try {
    for await (const chunk of stream) {
      splitter.write(chunk as Uint8Array)
      await onChunk()
    }
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (!code || syscall === 'write') throw error
    throw new UnreadableError(`${file}: cannot be read (${code})`, { cause: error })
  }
  splitter.end()
  if (count === 0) findings.onFlaw({ pointer: '', message: 'is empty', hint: 'give at least one envelope' }, 1)
  await onChunk()
}
