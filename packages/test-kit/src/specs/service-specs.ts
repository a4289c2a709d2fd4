import { randomUUID } from 'node:crypto'
import { deadLetterTopic } from '@orderflow/envelope'
import { type SubjectEvent, send } from '@orderflow/service-kit/testing'
import { type RunningStack, urlOf } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { expect } from 'chai'
import { createProducer, openLog } from '../kafka.ts'
import type { Operator } from '../operator.ts'
import { badRequestsOf, expectRefused, refusalTitle } from './bad-request-cases.ts'
import { effectOf, expectAnnouncedOnce, publish, publishUnder, recordOf } from './effects.ts'
import { poisonOfAll } from './poison-records.ts'
import { reacting, type TestedService, typesOn } from './tested-services.ts'

/** Declares the specs of one service. Only services that react to events get the specs of invalid records and duplicates. */
export function serviceSpecs(service: TestedService, running: () => RunningStack, operator: () => Operator): void {
  describe(service.name, () => {
    badRequests(service, running)
    if (reacting([service]).length === 0) return
    poison(service, running)
    duplicates(service, running, operator)
  })
}

/** These keys are enough to reach every partition. */
const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

export function duplicates(service: TestedService, running: () => RunningStack, operator: () => Operator): void {
  it('applies an event once and announces it with identical bytes, however often and under whatever key it arrives', async () => {
    const event = service.subject.event()
    await publish(running(), event)
    const effect = await effectOf(service, running(), event)
    const documents = await operator().documents(service.role)
    await publishUnder(running(), event, [event.key, event.key, undefined, ...keys])
    // In each partition, one of these events follows the copies.
    const behind = keys.map((key) => ({ key, event: service.subject.event() }))
    for (const { key, event } of behind) await publishUnder(running(), event, [key])
    for (const { event } of behind) await effectOf(service, running(), event)
    expect(await effectOf(service, running(), event)).to.deep.equal(effect)
    expect(await operator().documents(service.role)).to.deep.include(documents)
    await expectAnnouncedOnce(service, running(), [event, ...behind.map(({ event }) => event)])
  })
}

/** Declares the specs of bad requests, which come from the service's routes and from its subject. */
function badRequests({ name, parts, subject }: TestedService, running: () => RunningStack): void {
  for (const [what, bad] of Object.entries(badRequestsOf(parts.routes, subject))) {
    it(refusalTitle(what, bad), async () => expectRefused(await send(urlOf(running(), name) + bad.path, bad.init), bad))
  }
}

/** Declares the specs of invalid records, for each topic that the service consumes. */
function poison(service: TestedService, running: () => RunningStack): void {
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
