import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { type Findings, Splitter } from './splitter.ts'
import { UsageError } from './usage.ts'

export interface Io {
  env: NodeJS.ProcessEnv
  stdin: Readable & { isTTY?: boolean }
  stdout: Writable
  stderr: Writable & { isTTY?: boolean }
  signal: AbortSignal
}

/** Reports that a file cannot be read. The command continues with the other files. */
export class UnreadableError extends Error {
  override name = 'UnreadableError'
}

const chunkBytes = 2 ** 17

/** Writes a text and waits until the stream accepts more. */
export async function write(stream: Writable, text: string): Promise<void> {
  if (text !== '' && !stream.write(text)) await once(stream, 'drain')
}

/** @throws {UsageError} if the command line names no file */
export function requireFiles(files: string[]): string[] {
  if (files.length === 0) throw new UsageError('no file: name at least one, or - for standard input')
  return files
}

/**
 * Reads the documents of a file, or of standard input for `-`. Reports empty input as a flaw.
 * @param onChunk called after each chunk; the next chunk is read after this call has ended
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
    // Calls of `onLines` are not counted, because `onDocument` is always called before `onLines`.
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
