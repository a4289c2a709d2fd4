import { placeText, readDeadLetters } from '@orderflow/service-kit/operations'
import { expect } from 'chai'
import fc from 'fast-check'
import { deliverHostile } from './support/deliver-hostile.ts'
import { endOf, hostileRecords } from './support/hostile.ts'
import { documentsIn, World } from './support/world.ts'

describe('any hostile record', () => {
  it('ends as a state change or a dead letter of each service, and holds up no other', async () => {
    const ends: string[] = []
    const property = fc.asyncProperty(hostileRecords(1, 6), async (records) => {
      const { world, places } = await deliverHostile(records)
      const { entries } = await readDeadLetters(world.log)
      for (const [role, topic] of world.subscriptions) {
        const documents = documentsIn(world.stores[role])
        for (const [index, record] of records.entries()) {
          if (record.topic !== topic) continue
          const letters = entries.filter(
            ({ app, attempts }) =>
              app === `${role}-service` && attempts.some(({ place }) => placeText(place) === places[index]),
          )
          const end = endOf(role, record, true)
          const isStored = typeof end === 'object' && end.key in documents
          const outcomes = [letters.length > 0, isStored, letters.length === 0 && end === 'unnoticed']
          expect(outcomes.filter(Boolean), `${role}-service ${topic} ${record.value}`).to.have.length(1)
          const what = isStored ? 'taken' : letters.length > 0 ? 'refused' : 'unnoticed'
          ends.push(`${role}-service: ${topic} ${what}`)
        }
      }
      for (const { key, value, headers } of [...world.stores.order.published, ...world.stores.payment.published]) {
        const texts = [key ?? '', ...Object.entries(headers).flat()]
        // Protocol buffers hold no other texts, and the dead-letter topic no larger record (stack/src/kafka/topics.ts).
        expect(texts.every((text) => text.isWellFormed())).to.equal(true)
        const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text), value.byteLength)
        expect(size).to.be.below(1_000_000)
      }
    })
    await fc.assert(property, { numRuns: 300 })
    // Records that are all refused, or all taken, would prove little. Expected are some 25 of the rarest, so that less than
    // five by chance is one run in a million.
    const seen = (end: string) => ends.filter((each) => each.endsWith(end)).length
    for (const [role, topic] of new World().subscriptions) {
      for (const what of ['taken', 'refused']) {
        const end = `${role}-service: ${topic} ${what}`
        expect(seen(end), end).to.be.at.least(5)
      }
    }
    expect(seen('unnoticed')).to.be.at.least(5)
  })
})
