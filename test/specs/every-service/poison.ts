import { randomUUID } from 'node:crypto'
import { createProducer, openLog } from '@orderflow/chaos/clients/kafka'
import { poisonOf, wrongFields } from '@orderflow/chaos/clients/poison'
import { deadLetterTopic } from '@orderflow/envelope-schema'
import { eventually, type RunningStack, urlOf } from '@orderflow/stack'
import { expect } from 'chai'
import { type TestedService, typesOn } from '../../support/tested-services.ts'
import { recordOf } from './effects.ts'

/** Records that a service cannot take, on each topic that it listens to. */
export function poison(service: TestedService, running: () => RunningStack): void {
  const { name, subject } = service
  const records = Object.keys(service.consumes).flatMap((topic) => {
    const [first, ...others] = typesOn(service, topic)
    const kinds = Object.assign(first ? poisonOf(first) : {}, ...others.map(wrongFields)) as ReturnType<typeof poisonOf>
    return Object.entries(kinds).map(([what, kind]) => ({ what, ...kind, topic, key: `poison ${randomUUID()} ü/+%` }))
  })

  describe('of what is no event of its own', () => {
    let dead: Awaited<ReturnType<typeof openLog>>
    const behind = records.map(() => subject.event())
    before(async () => {
      dead = await openLog(running().kafka, Object.keys(service.consumes).map(deadLetterTopic))
      const producer = createProducer(running().kafka)
      // As if each were in the way of an event that the service takes.
      for (const [index, { topic, key, value }] of records.entries()) {
        await producer.send({ topic, key, value, headers: { 'x-odd header\n': '\u0001ü', __offset: '999999' } })
        const healthy = behind[index]
        if (healthy) await producer.send({ ...recordOf(running(), healthy), key })
      }
      await producer.close()
    })
    after(() => dead?.close())
    const lettersOf = (key: string) =>
      dead.records.filter((record) => record.key === key && record.headers['deadletter-app'] === name)

    for (const { what, value, reason, tells, topic, key } of records) {
      it(`makes one dead letter that says why: ${what}, on ${topic}`, async () => {
        const letter = await eventually(() => lettersOf(key)[0], 'the dead letter')
        expect(letter.headers).to.include({ 'deadletter-reason': reason, 'deadletter-topic': topic })
        expect(letter.headers['deadletter-detail']).to.contain(tells)
        expect(letter.headers['deadletter-offset']).not.to.equal('999999')
        expect(letter.value.toString('hex')).to.equal(Buffer.from(value ?? '').toString('hex'))
      })
    }

    it('takes what comes behind each of them, and makes no second dead letter', async () => {
      const url = urlOf(running(), name)
      for (const event of behind) await eventually(() => subject.effectOf(url, event), `the effect of ${event.key}`)
      await dead.caughtUp()
      for (const { what, key } of records) expect(lettersOf(key), what).to.have.length(1)
    })
  })
}
