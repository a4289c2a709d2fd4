import { randomUUID } from 'node:crypto'
import { orderUrl, orderWith, paymentsOf, paymentUrl, send } from '@orderflow/chaos/clients/api'
import { reduced } from '@orderflow/chaos/clients/envelopes'
import { completeEnvelope, paymentEvents, type ReceivedEnvelope } from '@orderflow/envelope-schema'
import { type LogReader, openLog, positionText } from '@orderflow/kafka-log'
import { service } from '@orderflow/order-service/service'
import { readSettings, readTrust } from '@orderflow/service-kit'
import { type Entry, openAttempt, readDeadLetters, replayDeadLetters } from '@orderflow/service-kit/operations'
import { publisherOf } from '@orderflow/service-kit/testing'
import { type RunningStack, services } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { Producer } from '@platformatic/kafka'
import { expect } from 'chai'

const topic = 'orderevents'

const trust = readTrust(service.root, readSettings(service, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }).Trust)

const bytesOf = (document: object) => Buffer.from(JSON.stringify(document))

interface Published {
  key?: Buffer
  value: Buffer
  headers?: [Buffer, Buffer][]
}

export function deadLetters(running: () => RunningStack): void {
  describe('dead letters of a running stack', () => {
    let stack: RunningStack
    let log: LogReader
    let producer: Producer<Buffer, Buffer, Buffer, Buffer>
    before(() => {
      stack = running()
      log = openLog(stack.kafka)
      producer = new Producer({ clientId: 'older-application', ...stack.kafka })
    })
    after(() => Promise.all([log?.close(), producer?.close()]))

    async function publish({ key, value, headers = [] }: Published, to = topic) {
      const message = {
        topic: to,
        partition: to === topic ? 1 : 0,
        ...(key && { key }),
        value,
        headers: new Map(headers),
      }
      const { offsets } = await producer.send({ messages: [message], acks: -1 })
      return { topic: to, partition: message.partition, offset: String(offsets?.[0]?.offset) }
    }

    /** Returns the ids that receivers derive from the value of a record without a key. */
    const idsOf = (value: Buffer) => completeEnvelope({} as ReceivedEnvelope, { value })

    const entriesOf = async (offset: string, partition = 1) =>
      (await readDeadLetters(log)).entries.filter(
        ({ origin }) => origin.partition === partition && origin.offset === offset,
      )

    async function failing(record: Published, attempts = 1): Promise<{ offset: string; entries: Entry[] }> {
      const { offset } = await publish(record)
      return { offset, entries: await failed(offset, attempts) }
    }
    const failed = (offset: string, attempts: number) =>
      eventually(async () => {
        const entries = await entriesOf(offset)
        return entries.filter((entry) => entry.attempts.length === attempts).length === 2 ? entries : undefined
      }, `${attempts} attempts of both apps`)

    async function replay(entries: Entry[], options = {}) {
      const outcomes = []
      for await (const outcome of replayDeadLetters(stack.kafka, entries, { trust, ...options })) outcomes.push(outcome)
      return outcomes
    }
    const ends = async () =>
      Promise.all([topic, `${topic}.dead`].map(async (name) => (await log.spans(name)).map(({ end }) => String(end))))

    it('replays an edited event as one record for both apps, with the ids of the event that failed', async () => {
      const event = reduced({ Total: '10' })
      const { offset, entries } = await failing({ value: bytesOf(event) })
      const edited = bytesOf({ ...event, Payload: { ...event.Payload, Total: 10 } })
      const [first, second] = await replay(entries, { edited })
      expect(first).to.deep.include({ result: 'replayed' })
      expect(second && 'as' in second && second.as).to.equal(first && 'as' in first && first.as)

      const order = await orderWith(orderUrl(stack), event.Payload.OrderId, 'Paid')
      // The replay writes the ids of the failed event into the edited event.
      expect(order.correlationId).to.equal(idsOf(bytesOf(event)).CorrelationId)
      expect(await paymentsOf(paymentUrl(stack), order.id)).to.have.length(1)
      const now = await entriesOf(offset)
      expect(now.map(({ id }) => id)).to.deep.equal(entries.map(({ id }) => id))
      expect(now.map(openAttempt)).to.deep.equal([undefined, undefined])
      expect(now[0]?.attempts[0]?.replayed).to.include({ edited: true })

      const before = await ends()
      expect((await replay(now)).map(({ result }) => result)).to.deep.equal(['done', 'done'])
      expect(await ends()).to.deep.equal(before)
    })

    it('replays a payment event, which then takes effect in each service that consumes payment events', async () => {
      const readers = services.filter(({ consumes }) => paymentEvents in consumes).map(({ name }) => name)
      const event = reduced({ Total: 20_000 })
      const { OrderId } = event.Payload
      await publish({ value: bytesOf(event) })
      await orderWith(orderUrl(stack), OrderId, 'PaymentRejected')
      // Receivers accept payment events only from this publisher.
      const { id: AppId, name: AppName } = publisherOf('PaymentApproved')
      const approved = (Amount: unknown) => {
        const Payload = { OrderId, PaymentId: randomUUID(), Amount, Policy: 'by-hand@1', Source: 'Manual' }
        return bytesOf({ ...event, AppId, AppName, Name: 'PaymentApproved', Payload })
      }
      const position = await publish({ value: approved('20000') }, 'paymentevents')
      const entries = await eventually(async () => {
        const all = (await readDeadLetters(log)).entries
        const own = all.filter(({ origin }) => positionText(origin) === positionText(position))
        return own.length >= readers.length ? own : undefined
      }, 'the dead letters')
      expect(entries.map(({ app }) => app)).to.have.members(readers)
      const [outcome] = await replay(entries, { edited: approved(20_000) })
      expect(outcome && 'as' in outcome && outcome.as).to.match(/^paymentevents\/0\//)
      const { payment } = await orderWith(orderUrl(stack), OrderId, 'Paid')
      expect(payment?.policy).to.equal('by-hand@1')
    })

    it('replays an event unchanged, with its bytes, binary key, headers and partition, and marks the new record as a replay', async () => {
      const event = reduced()
      const record: Published = {
        key: Buffer.from([0x00, 0xff, 0x25, 0x2b, 0x20]),
        value: Buffer.from(` ${JSON.stringify(event)}\n`),
        headers: [
          [Buffer.from('x-twice'), Buffer.from('1')],
          [Buffer.from('x-twice'), Buffer.from([0xff])],
          [Buffer.from('replayed-from'), Buffer.from('somewhere')],
        ],
      }
      const position = await publish(record)
      await orderWith(orderUrl(stack), event.Payload.OrderId, 'Paid')
      const [entry] = await ourFault(position, record.value)
      const [outcome] = await replay(entry ? [entry] : [])
      expect(outcome?.result).to.equal('replayed')
      const [, partition = '', offset = ''] = (outcome && 'as' in outcome ? outcome.as : '').split('/')
      const replayed = await log.at({ topic, partition: Number(partition), offset })
      expect(partition).to.equal('1')
      expect([replayed?.key, replayed?.value]).to.deep.equal([record.key, record.value])
      expect(replayed?.headers.map(([name, value]) => [name.toString(), value.toString('hex')])).to.deep.equal([
        ['x-twice', '31'],
        ['x-twice', 'ff'],
        ['replayed-from', Buffer.from(`orderevents/1/${position.offset}`).toString('hex')],
      ])
    })

    it('replays an event from its dead letter if the log no longer has the event’s record', async () => {
      const event = reduced()
      const [entry] = await ourFault({ topic, partition: 1, offset: '987654321' }, bytesOf(event))
      const [outcome] = await replay(entry ? [entry] : [])
      expect(outcome?.result).to.equal('replayed')
      await orderWith(orderUrl(stack), event.Payload.OrderId, 'Paid')
      const [, , offset = ''] = (outcome && 'as' in outcome ? outcome.as : '').split('/')
      expect((await log.at({ topic, partition: 1, offset }))?.key?.toString('hex')).to.equal('00ff2b20')
    })

    it('refuses an event of an unknown partition', async () => {
      const [entry] = await ourFault({ topic, partition: 77, offset: '0' }, bytesOf(reduced()))
      const [outcome] = await replay(entry ? [entry] : [])
      expect(outcome?.result === 'refused' && outcome.why.join()).to.contain('partition 77 of')
    })

    it('finds no record in an unknown topic', async () => {
      expect(await log.has({ topic: 'nowhere', partition: 0, offset: '0' })).to.equal(false)
      expect(await log.has({ topic: 'no topic at all', partition: 0, offset: '0' })).to.equal(false)
    })

    /** Publishes a dead letter as if a bug of a service had caused it. The event is valid. */
    async function ourFault(origin: { topic: string; partition: number; offset: string }, value: Buffer) {
      const headers = Object.entries({
        'deadletter-reason': 'handler-error',
        'deadletter-app': 'order-service',
        'deadletter-topic': origin.topic,
        'deadletter-partition': String(origin.partition),
        'deadletter-offset': origin.offset,
        'deadletter-key': '%00%FF%2B+',
      })
      await publish(
        { value, headers: headers.map(([name, text]) => [Buffer.from(name), Buffer.from(text)]) },
        `${topic}.dead`,
      )
      return entriesOf(origin.offset, origin.partition)
    }

    it('refuses events that would fail again, and publishes nothing in a dry run', async () => {
      const poison = await failing({ value: Buffer.from([0xff, 0xfe]), key: Buffer.from([0xff]) })
      const tombstone = await failing({ value: null as unknown as Buffer })
      const before = await ends()
      for (const { entries } of [poison, tombstone]) {
        expect((await replay(entries)).map(({ result }) => result)).to.deep.equal(['refused', 'refused'])
        expect((await replay(entries, { edited: Buffer.from('{}') })).map(({ result }) => result)).to.include('refused')
        const ready = await replay(entries, { edited: bytesOf(reduced()), dryRun: true })
        expect(ready.map(({ result }) => result)).to.deep.equal(['ready', 'ready'])
      }
      expect(await ends()).to.deep.equal(before)
    })

    it('keeps a separate entry for a record whose publisher imitates a replay', async () => {
      const { offset, entries } = await failing({ value: Buffer.from('{') })
      const claim: [Buffer, Buffer] = [Buffer.from('replayed-from'), Buffer.from(`${topic}/1/${offset}`)]
      const forged = await failing({ value: Buffer.from('['), headers: [claim] })
      expect(forged.entries.map((entry) => openAttempt(entry)?.origin.offset)).to.deep.equal([offset, offset])
      expect(await entriesOf(offset)).to.deep.equal(entries)
    })

    it('counts an event once although it is replayed and fails several times', async () => {
      const event = reduced()
      await publish({ value: bytesOf(event) })
      const known = await orderWith(orderUrl(stack), event.Payload.OrderId, 'Paid')
      const contradiction = (Total: number) => bytesOf({ ...event, Payload: { ...event.Payload, Total } })
      const { offset, entries } = await failing({ value: contradiction(11) })
      const [refused] = await replay(entries)
      expect(refused?.result === 'refused' && refused.why.join()).to.contain('conflicting-order')

      await replay(entries, { edited: contradiction(12) })
      const again = await failed(offset, 2)
      await replay(again, { edited: contradiction(13) })
      const thrice = await failed(offset, 3)
      expect(thrice.map(({ id }) => id)).to.deep.equal(entries.map(({ id }) => id))
      expect(thrice.map((entry) => openAttempt(entry)?.reason)).to.deep.equal([
        'conflicting-order',
        'conflicting-order',
      ])
      // A replay publishes the newest attempt.
      const attempt = thrice[0] && openAttempt(thrice[0])
      const deadLetter = attempt && (await log.at(attempt.deadLetterPosition))
      expect(JSON.parse(deadLetter?.value.toString() ?? '')).to.deep.equal({
        ...idsOf(contradiction(11)),
        ...JSON.parse(contradiction(13).toString()),
      })
      expect((await send(`${orderUrl(stack)}/v1/orders/${known.id}`)).body).to.deep.equal(known)
    })
  })
}
