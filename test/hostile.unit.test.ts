import { orderEvents } from '@orderflow/envelope-schema'
import { readDeadLetters } from '@orderflow/service-kit/operations'
import { expect } from 'chai'
import fc from 'fast-check'
import { placeText } from '../service-kit/src/place.ts'
import { hasForeignName, hostileRecords } from './support/hostile.ts'
import { World } from './support/world.ts'

describe('any hostile record', function () {
  this.timeout(120_000)

  it('ends as a state change or a dead letter of each service, and holds up no other', async () => {
    let [taken, refused] = [0, 0]
    const property = fc.asyncProperty(hostileRecords(1, 6), async (records) => {
      const world = new World()
      const places = records.map(({ key, value, headers }) =>
        placeText(world.log.append({ topic: orderEvents, key, value: value ?? '', headers })),
      )
      const all = world.log.records.slice()
      for (const role of ['order', 'payment'] as const) {
        expect(await world.deliver(role, orderEvents, all)).to.have.length(all.length)
      }
      const { entries } = await readDeadLetters(world.log)
      for (const [index, { orderId, value }] of records.entries()) {
        for (const role of ['order', 'payment'] as const) {
          const app = `${role}-service`
          const letters = entries.filter(
            (entry) => entry.app === app && entry.attempts.some(({ place }) => place === places[index]),
          )
          const isStored = JSON.stringify([...world.stores[role].documents]).includes(orderId)
          const outcomes = [letters.length > 0, isStored, letters.length === 0 && hasForeignName(value)]
          expect(outcomes.filter(Boolean), `${app} ${value}`).to.have.length(1)
          if (isStored) taken += 1
          if (letters.length > 0) refused += 1
        }
      }
      for (const { key, value, headers } of [...world.stores.order.published, ...world.stores.payment.published]) {
        const texts = [key ?? '', ...Object.entries(headers).flat()]
        // Protocol buffers hold no other texts, and the dead-letter topic no larger record (stack/topics.json).
        expect(texts.every((text) => text.isWellFormed())).to.equal(true)
        const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text), value.byteLength)
        expect(size).to.be.below(1_000_000)
      }
    })
    await fc.assert(property, { numRuns: 300 })
    // Records that are all refused, or all taken, would prove little.
    expect(Math.min(taken, refused)).to.be.above(100)
  })
})
