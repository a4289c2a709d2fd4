import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { orderUrl, orderWith, paymentUrl, send } from '@orderflow/chaos/clients/api'
import { reduced } from '@orderflow/chaos/clients/envelopes'
import { paymentEvents } from '@orderflow/envelope-schema'
import type { CheckResult, DeadLetterDetail, EventDetail, HealthView } from '@orderflow/event-monitor/api'
import { type LogReader, openLog, positionText } from '@orderflow/kafka-log'
import { type DeadLetters, readDeadLetters } from '@orderflow/service-kit/operations'
import { type RunningStack, urlOf } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import type { Operator } from '@orderflow/test-kit'
import { Producer } from '@platformatic/kafka'
import { expect } from 'chai'
import fc from 'fast-check'
import { endOf } from '../../support/hostile/expected.ts'
import { type HostileRecord, hostileRecords } from '../../support/hostile/hostile.ts'
import { combinations, type LargeRecord, largestRecords, stranger } from '../../support/hostile/large-records.ts'
import { type Role, roles } from '../operations/rebuild.ts'

const partitions = [0, 1, 2]
const count = 360

/** Records close to Kafka’s size limit, with large keys or headers. */
const large: Record<string, Pick<HostileRecord, 'key' | 'headers'>> = {
  'a text key of 200 KB': { key: Buffer.alloc(200_000, 'k'), headers: [] },
  'a binary key of 200 KB': { key: Buffer.alloc(200_000, 0xfe), headers: [] },
  'a header of 200 KB': { key: undefined, headers: [[Buffer.from('x-large'), Buffer.alloc(200_000, 'h')]] },
  '5,000 headers': {
    key: undefined,
    headers: Array.from({ length: 5_000 }, (_, index) => [Buffer.from(`x-${index}`), Buffer.from('h')]),
  },
}

export function hostilePublishers(running: () => RunningStack, operator: () => Operator): void {
  describe('the system with hostile publishers', () => {
    const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
    let stack: RunningStack
    let log: LogReader
    before(() => {
      stack = running()
      log = openLog(stack.kafka)
    })
    after(() => log?.close())

    const deadIn = ({ entries }: DeadLetters, role: Role) =>
      new Set(
        entries.flatMap(({ app, attempts }) =>
          app === `${role}-service` ? attempts.map(({ position }) => positionText(position)) : [],
        ),
      )

    it(`turns each hostile record into a state change or a dead letter of each service (SEED=${seed})`, async () => {
      const [records = []] = fc.sample(hostileRecords(count), { seed, numRuns: 1 })
      const positions = await publish(stack, records)
      const stored = { order: new Set<string>(), payment: new Set<string>() }
      let open: string[] = []
      await eventually(async () => {
        open = []
        const deadLetters = await readDeadLetters(log)
        for (const role of roles) {
          const [dead, documents] = [deadIn(deadLetters, role), await operator().documents(role)]
          for (const [index, record] of records.entries()) {
            const [position = '', end] = [positions[index], endOf(role, record, false)]
            if (dead.has(position)) continue
            if (typeof end === 'object' && end.isIn(documents)) stored[role].add(position)
            else if (end !== 'unnoticed') open.push(`${position} in ${role}-service`)
          }
        }
        return open.length === 0
      }, 'an outcome of each record').catch((error: Error) => {
        throw new Error(`${error.message}; records without an outcome: ${open.slice(0, 5).join(', ')}`)
      })
      for (const { size } of Object.values(stored)) expect(size).to.be.within(10, count - 10)
      const others = [...deadIn(await readDeadLetters(log), 'payment')].filter((position) =>
        position.startsWith('payment'),
      )
      expect(others).to.deep.equal([])
      for (const url of [orderUrl(stack), paymentUrl(stack)]) expect((await send(`${url}/readyz`)).status).to.equal(200)
    })

    for (const [what, { key, headers }] of Object.entries(large)) {
      it(`handles ${what} in an order and in an invalid record, and blocks no other record`, async () => {
        const orderId = randomUUID()
        const common = { topic: 'orderevents', orderId, key, headers, isSigned: false }
        const value = Buffer.from(JSON.stringify(reduced({ OrderId: orderId })))
        const [, position = ''] = await publish(stack, [
          { ...common, value },
          { ...common, value: Buffer.from('{') },
        ])
        await orderWith(orderUrl(stack), orderId, 'Paid')
        await eventually(async () => {
          const deadLetters = await readDeadLetters(log)
          return roles.every((role) => deadIn(deadLetters, role).has(position))
        }, `the dead letters of ${position}`)
      })
    }

    it('handles each valid envelope of 256 KiB as expected, and the monitor can show and edit it', async () => {
      // Each run tests a different quarter of all combinations.
      const records = combinations
        .flatMap((combination) => largestRecords(combination, seed).filter(isSeenHere))
        .filter((_, index) => index % 4 === seed % 4)
      await publish(
        stack,
        records.flatMap(({ first }) => (first ? [first] : [])),
      )
      const positions = await publish(stack, records)
      let wrong: string[] = []
      await eventually(async () => {
        const { entries } = await readDeadLetters(log)
        const reasons = new Map(
          entries.flatMap(({ app, attempts }) =>
            attempts.map(({ position, reason }) => [`${app} ${positionText(position)}`, reason] as const),
          ),
        )
        wrong = []
        for (const role of roles) {
          const documents = await operator().documents(role)
          for (const [index, record] of records.entries()) {
            const end = endOf(role, record, false)
            if (end === 'unnoticed') continue
            const reason = reasons.get(`${role}-service ${positions[index]}`)
            const isEnded = reason ?? (typeof end === 'object' && end.isIn(documents))
            if (isEnded !== (record.reason ?? true)) wrong.push(`${role}-service, ${isEnded}: ${record.title}`)
          }
        }
        return wrong.length === 0
      }, 'the outcome of each large record').catch((error: Error) => {
        throw new Error(`${error.message}; records with an unexpected result: ${wrong.slice(0, 5).join(', ')}`)
      })
      const { entries } = await readDeadLetters(log)
      const monitor = urlOf(stack, 'event-monitor')
      for (const [index, { reason, title }] of records.entries()) {
        const event = await eventually(async () => {
          const answer = await send<EventDetail>(`${monitor}/v1/events/${positions[index]}`)
          return answer.status === 200 ? answer.body : undefined
        }, `${title} in the monitor`)
        expect(event.document, title).not.to.equal(null)
        if (reason === undefined) continue
        const entry = entries.find(({ attempts }) =>
          attempts.some(({ position }) => positionText(position) === positions[index]),
        )
        const path = `${monitor}/v1/dead-letters/entries/${entry?.id}`
        const shown = await eventually(async () => {
          const answer = await send<DeadLetterDetail>(path)
          return answer.status === 200 ? answer.body : undefined
        }, `the dead letter of ${title} in the monitor`)
        expect(shown.editable, title).to.be.a('string')
        const checked = await send<CheckResult>(`${path}/check`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ edited: { text: shown.editable } }),
        })
        expect([checked.status, checked.body.changes], title).to.deep.equal([200, []])
      }
    })

    it('indexes all hostile records in the monitor', async () => {
      const health = `${urlOf(stack, 'event-monitor')}/v1/health`
      const isComplete = async () => {
        const { complete } = (await send<HealthView>(health)).body
        return (complete.isConnected && complete.indexLag === 0) || undefined
      }
      await eventually(isComplete, 'the index to have read the log to its end')
    })
  })
}

/** Returns true if this stack, which has no signatures, handles a large record as the corpus states. */
function isSeenHere({ topic, refusal, value }: LargeRecord): boolean {
  if (refusal === 'unlisted' || refusal === 'other-name') return topic === paymentEvents
  return refusal !== 'impersonation' || value.includes(stranger.AppId) || value.includes(stranger.AppName)
}

/** Publishes the records, and then an order to each partition. All these orders must be paid. */
async function publish(stack: RunningStack, records: HostileRecord[]): Promise<string[]> {
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'hostile-application', ...stack.kafka })
  try {
    const positions: string[] = []
    for (const [index, { topic, key, value, headers }] of records.entries()) {
      // Records with the same content and the same time in milliseconds are treated as the same record, and have one dead letter.
      if (!value && !key) await setTimeout(2)
      const message = { topic, partition: index % partitions.length, ...(key && { key }), value: value as Buffer }
      const { offsets } = await producer.send({ messages: [{ ...message, headers: new Map(headers) }], acks: -1 })
      positions.push(`${topic}/${offsets?.[0]?.partition}/${offsets?.[0]?.offset}`)
    }
    const healthy = partitions.map((partition) => ({ partition, orderId: randomUUID() }))
    for (const { partition, orderId } of healthy) {
      await producer.send({
        messages: [
          { topic: 'orderevents', partition, value: Buffer.from(JSON.stringify(reduced({ OrderId: orderId }))) },
        ],
      })
    }
    for (const { orderId } of healthy) await orderWith(orderUrl(stack), orderId, 'Paid')
    return positions
  } finally {
    await producer.close()
  }
}
