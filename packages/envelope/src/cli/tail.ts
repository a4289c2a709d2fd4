import { randomUUID } from 'node:crypto'
import { decode } from '../envelope/parse.ts'
import { maskedEvent, mayShow } from '../envelope/personal.ts'
import { reasonOf } from '../kafka/address.ts'
import { loadClient } from '../kafka/client.ts'
import { parseGuid } from '../schemas/guid.ts'
import { limitProblems } from '../validation/check.ts'
import { EnvelopeError } from '../validation/problems.ts'
import { connectionOf, kafkaHelp, kafkaOptions } from './connection.ts'
import { type Io, write } from './io.ts'
import { readOptions, UsageError } from './usage.ts'

export const help = `Usage: envelope tail --brokers HOST:PORT --topic NAME [--correlation ID] [--pretty] [--values]

Follow a topic until Ctrl-C, beginning with the next record. Print one line of JSON for each record, with its position, key and
envelope. Personal values and values of unknown fields are masked.

${kafkaHelp}
  --from-start        begin with the oldest record of the topic
  --correlation ID    print only events with this CorrelationId, in any usual spelling of a GUID
  --pretty            print several lines for each record
  --values            print all values, also personal ones

Exit codes: 0 after Ctrl-C, 1 if Kafka cannot be followed, 2 for wrong arguments.
`

interface TailedRecord {
  topic: string
  partition: number
  offset: bigint
  key: Buffer | undefined
  value: Buffer | null
}

interface Shown {
  correlation: string | undefined
  pretty: boolean
  values: boolean
}

export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = readOptions(args, {
    ...kafkaOptions,
    'from-start': { type: 'boolean', default: false },
    correlation: { type: 'string' },
    pretty: { type: 'boolean', default: false },
    values: { type: 'boolean', default: false },
  })
  if (positionals.length > 0) throw new UsageError(`tail reads no files: remove ${positionals[0]}`)
  const correlation = correlationOf(values.correlation)
  const { address, topic } = connectionOf(values, io.env)
  const { Consumer } = await loadClient()
  const groupId = `envelope-tail-${randomUUID()}`
  const consumer = new Consumer<Buffer, Buffer, Buffer, Buffer>({
    clientId: groupId,
    groupId,
    ...address,
    autocommit: false,
    maxWaitTime: 100,
  })
  try {
    const timestamp = values['from-start'] ? -2n : -1n
    const starts = (await consumer.listOffsets({ topics: [topic], timestamp })).get(topic) ?? []
    const offsets = starts.map((offset, partition) => ({ topic, partition, offset }))
    const stream = await consumer.consume({ topics: [topic], mode: 'manual', offsets })
    io.signal.addEventListener('abort', () => void stream.close().catch(() => {}), { once: true })
    for await (const record of stream) await write(io.stdout, shown(record, { ...values, correlation }))
    return 0
  } catch (error) {
    if (io.signal.aborted) return 0
    await write(io.stderr, `envelope: ${topic} cannot be followed: ${reasonOf(error)}\n`)
    return 1
  } finally {
    await consumer.close(true).catch(() => {})
  }
}

/** @throws {UsageError} if the text is not a GUID */
export function correlationOf(given: string | undefined): string | undefined {
  const guid = parseGuid(given)
  if (given === undefined || guid !== undefined) return guid
  throw new UsageError('--correlation is not a GUID: give 32 hex digits, such as 7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11')
}

export function shown(
  { topic, partition, offset, key, value }: TailedRecord,
  { correlation, pretty, values }: Shown,
): string {
  const { document, problems } = read(value ?? Buffer.alloc(0))
  const id = (document as { CorrelationId?: unknown } | null | undefined)?.CorrelationId
  if (correlation !== undefined && parseGuid(id) !== correlation) return ''
  const text = key?.toString()
  const record = {
    topic,
    partition,
    offset: `${offset}`,
    // A key may be shown if it looks like an id, because ids are not personal.
    key: text === undefined || values || mayShow('Id', text) ? (text ?? null) : '***',
    ...(problems ? { problems } : { envelope: values ? document : maskedEvent(document) }),
  }
  return `${JSON.stringify(record, null, pretty ? 2 : 0)}\n`
}

function read(value: Uint8Array): { document?: unknown; problems?: EnvelopeError['problems'] } {
  try {
    const document = decode(value)
    const problems = limitProblems(document)
    return problems.length > 0 ? { problems } : { document }
  } catch (error) {
    if (error instanceof EnvelopeError) return { problems: error.problems }
    throw error
  }
}
