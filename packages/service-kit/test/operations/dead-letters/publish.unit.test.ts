import { recordId } from '@orderflow/envelope'
import type { LogReader } from '@orderflow/kafka-log'
import { ProtocolError } from '@platformatic/kafka'
import { expect } from 'chai'
import { publishReplay } from '../../../src/operations/dead-letters/publish.ts'
import type { ReplayRecord } from '../../../src/operations/dead-letters/replay-record.ts'

const replay: ReplayRecord = {
  origin: { topic: 'orderevents', partition: 1, offset: '7' },
  of: 'orderevents/1/9',
  record: undefined,
  failed: 'orderevents/1/9',
  edited: false,
  key: undefined,
  value: Buffer.from('{}'),
  headers: [],
}

/** Returns a producer. Its calls of `send` return the given offsets or throw the given errors, in this order. */
function producer(...ends: (bigint | Error | undefined)[]) {
  const sent: { topic: string; headers: string[] }[] = []
  return {
    sent,
    async send({ messages: [message] }: { messages: { topic: string; headers?: Map<Buffer, Buffer> }[] }) {
      const end = ends.shift()
      if (end instanceof Error) throw end
      const { topic = '', headers = new Map() } = message ?? {}
      sent.push({ topic, headers: [...headers].map(([name, text]) => `${name}: ${text}`) })
      return end === undefined ? {} : { offsets: [{ topic, partition: 1, offset: end }] }
    },
  }
}
const logAt = (timestamp: number): Pick<LogReader, 'at'> => ({
  at: async ({ offset, ...rest }) => ({
    ...rest,
    offset: BigInt(offset),
    timestamp,
    appendedAt: timestamp,
    ...content,
    headers: [],
  }),
})
const content = { key: undefined, value: Buffer.from('{}') }
const emptyLog: Pick<LogReader, 'at'> = { at: async () => undefined }
const publish = (kafka: ReturnType<typeof producer>, changes: Partial<ReplayRecord> = {}, log = emptyLog) =>
  publishReplay(kafka as unknown as Parameters<typeof publishReplay>[0], { ...replay, ...changes }, log)

describe('publishReplay', () => {
  it('writes a note with the new record’s position to the dead-letter topic', async () => {
    const kafka = producer(12n, 3n)
    expect(await publish(kafka)).to.deep.equal({ result: 'replayed', as: 'orderevents/1/12' })
    expect(kafka.sent).to.deep.equal([
      { topic: 'orderevents', headers: [] },
      { topic: 'orderevents.dead', headers: ['replay-of: orderevents/1/9', 'replayed-as: orderevents/1/12'] },
    ])
  })

  it('writes only the note if an interrupted replay has already published the record', async () => {
    const kafka = producer(3n)
    const published = await publish(kafka, { publishedAs: 'orderevents/1/12' })
    expect(published).to.deep.equal({ result: 'replayed', as: 'orderevents/1/12' })
    expect(kafka.sent).to.deep.equal([
      { topic: 'orderevents.dead', headers: ['replay-of: orderevents/1/9', 'replayed-as: orderevents/1/12'] },
    ])
  })

  it('writes a note with the ids of both records', async () => {
    const kafka = producer(12n, 3n)
    const failed = recordId({ ...content, timestamp: 1_000 })
    await publish(kafka, { record: failed }, logAt(2_000))
    expect(kafka.sent[1]?.headers).to.include.members([
      `replay-of-record: ${failed}`,
      `replayed-as-record: ${recordId({ ...content, timestamp: 2_000 })}`,
    ])
  })

  it('writes a note with positions and no record ids if reading the new record fails', async () => {
    const kafka = producer(12n, 3n)
    const at = async () => {
      throw new Error('the broker is away')
    }
    expect(await publish(kafka, {}, { at })).to.have.property('result', 'replayed')
    expect(kafka.sent[1]?.headers).to.deep.equal(['replay-of: orderevents/1/9', 'replayed-as: orderevents/1/12'])
  })

  for (const id of ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD'] as const) {
    it(`refuses the record and continues the command if the broker answers ${id}`, async () => {
      const kafka = producer(new ProtocolError(id))
      expect(await publish(kafka)).to.have.property('result', 'refused')
      expect(kafka.sent).to.deep.equal([])
    })
  }

  it('ends the command with an error if the broker fails or the note cannot be written', async () => {
    for (const ends of [[new ProtocolError('NOT_ENOUGH_REPLICAS')], [12n, new ProtocolError('MESSAGE_TOO_LARGE')]]) {
      expect(await publish(producer(...ends)).catch((error: unknown) => error)).to.be.instanceOf(ProtocolError)
    }
  })

  it('throws before it writes the note if the client returns no position', async () => {
    const kafka = producer(undefined, 3n)
    expect(await publish(kafka).catch((error: Error) => error.message)).to.contain('did not return the position')
    expect(kafka.sent.map(({ topic }) => topic)).to.deep.equal(['orderevents'])
  })
})
