import { randomUUID } from 'node:crypto'
import { deadLetterTopic } from '@orderflow/envelope'
import type { SubjectEvent } from '@orderflow/service-kit/testing'
import { type RunningStack, urlOf } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { expect } from 'chai'
import { createProducer, openLog } from '../kafka.ts'
import { recordOf } from './effects.ts'
import { poisonOfAll } from './poison-records.ts'
import { type TestedService, typesOn } from './tested-services.ts'

/** Declares the specs of invalid records, for each topic that the service consumes. */
export function poison(service: TestedService, running: () => RunningStack): void {
  const { name, subject } = service
  const records = Object.keys(service.consumes).flatMap((topic) =>
    poisonOfAll(typesOn(service, topic)).map((poison) => ({ ...poison, topic, key: `poison ${randomUUID()} ü/+%` })),
  )

  describe('records that the service cannot handle', () => {
    let dead: Awaited<ReturnType<typeof openLog>>
    let behind: SubjectEvent[] = []
    before(async () => {
      behind = records.map(() => subject.event())
      dead = await openLog(running().kafka, Object.keys(service.consumes).map(deadLetterTopic))
      const producer = createProducer(running().kafka)
      // A valid event follows each invalid record in the same partition.
      for (const [index, { topic, key, value }] of records.entries()) {
        await producer.send({ topic, key, value, headers: { 'x-odd header\n': '\u0001ü', __offset: '999999' } })
        const healthy = behind[index]
        if (healthy) await producer.send({ ...recordOf(running(), healthy), key })
      }
      await producer.close()
    })
    after(() => dead?.close())
    const deadLettersOf = (key: string) =>
      dead.records.filter((record) => record.key === key && record.headers['deadletter-app'] === name)

    for (const { what, value, reason, tells, topic, key } of records) {
      it(`creates one dead letter with the reason: ${what}, on ${topic}`, async () => {
        const deadLetter = await eventually(() => deadLettersOf(key)[0], 'the dead letter')
        expect(deadLetter.headers).to.include({ 'deadletter-reason': reason, 'deadletter-topic': topic })
        expect(deadLetter.headers['deadletter-detail']).to.contain(tells)
        expect(deadLetter.headers['deadletter-offset']).not.to.equal('999999')
        expect(deadLetter.value.toString('hex')).to.equal(Buffer.from(value ?? '').toString('hex'))
      })
    }

    it('handles the event after each invalid record, and creates no second dead letter', async () => {
      const url = urlOf(running(), name)
      for (const event of behind)
        await eventually(() => subject.effectOf(url, event), `the effect of ${event.envelope.Id}`)
      await dead.caughtUp()
      for (const { what, key } of records) expect(deadLettersOf(key), what).to.have.length(1)
    })
  })
}
