import { decode } from '../envelope/parse.ts'
import { modes, validateBytes } from '../envelope/verdict.ts'
import { reasonOf } from '../kafka/address.ts'
import { openPublisher, type PublishedPosition } from '../kafka/publisher.ts'
import { keyFields, keyOf, type OutgoingRecord, otherTopicOf, traceHeaders } from '../kafka/record.ts'
import type { Problem } from '../validation/problems.ts'
import { connectionOf, kafkaHelp, kafkaOptions } from './connection.ts'
import { type Io, readDocuments, requireFiles, UnreadableError, write } from './io.ts'
import { problemLine, verdictLines } from './report.ts'
import { oneOf, readOptions } from './usage.ts'

export const help = `Usage: envelope publish --brokers HOST:PORT --topic NAME FILE...

Publish each valid envelope in each FILE, with its bytes unchanged, and list the invalid ones. FILE is - for standard
input. The formats are those of \`envelope validate\`.

${kafkaHelp}
  --mode publisher          accept only full envelopes (default)
  --mode receiver           accept all envelopes that receivers accept
  --key TEXT                the record's key. Default: the key fields of the topic, from the Payload
  --key-field NAME          use another field of the Payload as the key
  --any-topic               allow events that belong to another topic of the contract

Exit codes: 0 if all envelopes are published, 1 if some are not, 2 for wrong arguments or an unreadable file.
`

/** Topics accept batches of 256 KiB, including the overhead of the batch. */
const [batchRecords, batchBytes] = [500, 200 * 1024]

interface Waiting {
  source: string
  record: OutgoingRecord
}

class StoppedError extends Error {}

export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = readOptions(args, {
    ...kafkaOptions,
    mode: { type: 'string', default: 'publisher' },
    key: { type: 'string' },
    'key-field': { type: 'string' },
    'any-topic': { type: 'boolean', default: false },
  })
  const mode = oneOf('--mode', values.mode, modes)
  const files = requireFiles(positionals)
  const { address, topic } = connectionOf(values, io.env)
  const publisher = await openPublisher(address, 'envelope-publish')
  const waiting: Waiting[] = []
  const count = { published: 0, refused: 0 }
  let last: { position: PublishedPosition; key: string | undefined } | undefined
  let problems = ''

  async function flush(): Promise<void> {
    const told = problems
    problems = ''
    await write(io.stderr, told)
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchLength(waiting))
      const positions = await publisher.send(batch.map(({ record }) => record)).catch((error: unknown) => {
        const [first, end] = [batch[0]?.source, batch.at(-1)?.source]
        const which = batch.length === 1 ? first : `${first} to ${end}`
        throw new StoppedError(
          `${which}: may be missing in Kafka; publish these envelopes again, and all later ones: ${reasonOf(error)}`,
        )
      })
      count.published += batch.length
      const [position] = positions
      last = position && { position, key: batch[0]?.record.key }
      if (io.stderr.isTTY) await write(io.stderr, `\rpublished ${count.published}`)
    }
  }

  let code = 0
  try {
    for (const file of files) {
      await readDocuments(
        file,
        io,
        {
          onDocument(bytes, line) {
            const verdict = validateBytes(bytes, mode)
            problems += verdictLines(file, line, verdict)
            if (!verdict.valid) return void count.refused++
            const document = decode(bytes)
            const other = values['any-topic'] ? undefined : otherTopicOf(document, topic)
            if (other !== undefined) return this.onFlaw(wrongTopic(other, topic), line)
            const key = values.key ?? keyOf(document, values['key-field'] ?? keyFields(document, topic))
            waiting.push({
              source: `${file}:${line}`,
              record: { topic, key, value: bytes, headers: traceHeaders(document) },
            })
          },
          onFlaw(flaw, line) {
            count.refused++
            problems += problemLine(`${file}:${line}`, flaw)
          },
        },
        flush,
      )
    }
  } catch (error) {
    if (!(error instanceof StoppedError || error instanceof UnreadableError)) throw error
    await write(io.stderr, `${error.message}\n`)
    code = error instanceof UnreadableError ? 2 : 1
  } finally {
    await publisher.close()
  }
  if (io.stderr.isTTY && count.published > 0) await write(io.stderr, '\n')
  await write(io.stdout, `${accountOf(topic, count, last)}\n`)
  return Math.max(code, count.refused > 0 ? 1 : 0)
}

function wrongTopic(own: string, topic: string): Problem {
  const hint = `use --topic ${own}, or publish it there with --any-topic`
  return { pointer: '/Name', message: `is an event of ${own}, not of ${topic}`, hint }
}

function batchLength(waiting: Waiting[]): number {
  let bytes = 0
  const end = waiting.slice(0, batchRecords).findIndex(({ record }) => {
    bytes += record.value.byteLength + 200
    return bytes > batchBytes
  })
  return end < 0 ? Math.min(waiting.length, batchRecords) : Math.max(end, 1)
}

function accountOf(
  topic: string,
  { published, refused }: { published: number; refused: number },
  last: { position: PublishedPosition; key: string | undefined } | undefined,
): string {
  const not = refused > 0 ? `; ${refused} invalid, not published` : ''
  if (published !== 1 || !last) return `published ${published} to ${topic}${not}`
  const { position, key } = last
  return `published 1 to ${topic}: partition ${position.partition}, offset ${position.offset}, key ${key ?? '(none)'}${not}`
}
