import { orderEvents } from '@orderflow/envelope-schema'
import { service as gateway } from '@orderflow/event-gateway/service'
import { examine } from '@orderflow/event-monitor/testing'
import { positionText } from '@orderflow/kafka-log'
import { createApp, createLog, readSettings } from '@orderflow/service-kit'
import {
  entryLines,
  entryTable,
  groupLines,
  newestAttempt,
  readDeadLetters,
  readEvent,
} from '@orderflow/service-kit/operations'
import { FakeSidecar, withServer } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import fc from 'fast-check'
import { deliverHostile } from '../support/hostile/deliver-hostile.ts'
import { endOf } from '../support/hostile/expected.ts'
import { type HostileRecord, hostileRecords } from '../support/hostile/hostile.ts'
import { deliverLarge } from '../support/hostile/large-ends.ts'
import { combinations, largeRecords, largestRecords } from '../support/hostile/large-records.ts'
import { documentsIn, strictTrust, World } from '../support/memory/world.ts'

describe('a hostile record that event-gateway accepts', () => {
  const env = { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }
  const settings = readSettings(gateway, env)

  async function letIn(records: HostileRecord[]): Promise<HostileRecord[]> {
    const sidecar = new FakeSidecar()
    const log = createLog('test', 'silent')
    const app = createApp(gateway, { settings, log, sidecar, now: () => new Date(), newId: () => crypto.randomUUID() })
    return withServer(app.web, async (url) => {
      const found: HostileRecord[] = []
      for (const record of records) {
        const body = new Uint8Array(record.value ?? [])
        const headers = { 'content-type': 'application/json' }
        const { status } = await fetch(`${url}/v1/events/orderevents`, { method: 'POST', headers, body })
        expect(status).to.be.oneOf([202, 207, 400, 403])
        for (const { key = '', value } of sidecar.published.splice(0)) {
          const came = {
            key: Buffer.from(key),
            value: Buffer.from(value),
            topic: orderEvents,
            headers: [],
            isSigned: false,
          }
          found.push({ ...record, ...came })
        }
      }
      return found
    })
  }

  it('never becomes a dead letter', async () => {
    let count = 0
    const property = fc.asyncProperty(hostileRecords(1, 20), async (records) => {
      const accepted = await letIn(records)
      count += accepted.length
      const { world } = await deliverHostile(accepted)
      const { entries } = await readDeadLetters(world.log)
      expect(entries).to.deep.equal([])
    })
    await fc.assert(property, { numRuns: 60 })
    // The test proves something only if the gateway accepts some records.
    expect(count).to.be.at.least(5)
  })
})

describe('a hostile record', () => {
  it('becomes a state change or a dead letter in each service, and blocks no other record', async () => {
    const ends: string[] = []
    const property = fc.asyncProperty(hostileRecords(1, 6), async (records) => {
      const { world, positions, stopped } = await deliverHostile(records)
      expect(stopped).to.deep.equal([])
      const { entries } = await readDeadLetters(world.log)
      for (const [role, topic] of world.subscriptions) {
        const documents = documentsIn(world.stores[role])
        for (const [index, record] of records.entries()) {
          if (record.topic !== topic) continue
          const deadLetters = entries.filter(
            ({ app, attempts }) =>
              app === `${role}-service` && attempts.some(({ position }) => positionText(position) === positions[index]),
          )
          const end = endOf(role, record, true)
          const isStored = typeof end === 'object' && end.isIn(documents)
          const outcomes = [deadLetters.length > 0, isStored, deadLetters.length === 0 && end === 'unnoticed']
          expect(outcomes.filter(Boolean), `${role}-service ${topic} ${record.value}`).to.have.length(1)
          const what = isStored ? 'taken' : deadLetters.length > 0 ? 'refused' : 'unnoticed'
          ends.push(`${role}-service: ${topic} ${what}`)
        }
      }
      for (const { key, value, headers } of [...world.stores.order.published, ...world.stores.payment.published]) {
        const texts = [key ?? '', ...Object.entries(headers).flat()]
        // The protocol between service and sidecar (Protocol Buffers) needs well-formed texts. The size of dead letters is limited in
        // packages/service-kit/src/stream/publishing/topic-settings.ts.
        expect(texts.every((text) => text.isWellFormed())).to.equal(true)
        const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text), value.byteLength)
        expect(size).to.be.below(1_000_000)
      }
    })
    await fc.assert(property, { numRuns: 300 })
    // Even the rarest result occurs about 25 times on average. By chance, only one run in a million has fewer than five.
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

describe('the monitor’s view of hostile records and their dead letters', () => {
  it('contains every record', () => {
    const property = fc.property(hostileRecords(1, 20), (records) => {
      for (const { topic, key, value, headers } of records) {
        const record = {
          key,
          value: value ?? Buffer.alloc(0),
          headers,
          partition: 0,
          offset: 0n,
          timestamp: 0,
          appendedAt: 0,
        }
        for (const at of [topic, `${topic}.dead`]) {
          const { kind, body } = examine({ ...record, topic: at }, { requireTrusted() {} })
          expect(JSON.stringify([kind, body])).not.to.contain('cannot read it')
        }
      }
    })
    fc.assert(property, { numRuns: 100 })
  })
})

/** Far more than the work takes on a slow machine. Work that grows with the square of the size takes longer. */
const notEndlessMs = 10_000

describe('a valid envelope of extreme size or shape', () => {
  for (const combination of combinations) {
    const { topic, shape, refusal } = combination
    it(`leads to the expected result in each service (${topic}, ${shape}, ${refusal})`, async () => {
      const records = largestRecords(combination, 1)
      const { ends, stopped, world } = await deliverLarge(records)
      const wrong = ends.filter(({ isExpected }) => !isExpected)
      expect(stopped).to.deep.equal([])
      expect(wrong.map(({ role, end, record }) => `${role}-service ended as ${end}: ${record.title}`)).to.deep.equal([])
      // The size limit of the dead-letter topic (packages/service-kit/src/stream/publishing/topic-settings.ts).
      for (const { value } of world.log.records) expect(value.length).to.be.below(800_000)
    })
  }

  it('appears with masked values in the monitor, and so does its dead letter', () => {
    for (const combination of combinations.filter(({ refusal }) => refusal === 'none' || refusal === 'unlisted')) {
      for (const { topic, key, value, title } of largestRecords(combination, 1)) {
        const record = { key, value, headers: [], partition: 0, offset: 0n, timestamp: 0, appendedAt: 0 }
        for (const at of [topic, `${topic}.dead`]) {
          const start = performance.now()
          const { kind, body } = examine({ ...record, topic: at }, strictTrust)
          expect(performance.now() - start, title).to.be.below(notEndlessMs)
          expect(body.document, title).not.to.equal(undefined)
          expect(JSON.stringify([kind, body])).not.to.contain('cannot read it')
          expect(JSON.stringify(body).length, title).to.be.below(1_000_000)
        }
      }
    }
  })

  it('does not make the rebuild of a service’s store fail', async () => {
    for (const combination of combinations.filter(({ refusal }) => refusal === 'none' || refusal === 'conflict')) {
      const { world } = await deliverLarge(largeRecords(combination, 8, 2))
      const facts = (store: FakeSidecar) =>
        Object.entries(documentsIn(store)).flatMap(([key, document]) =>
          Object.keys((document as { state: object }).state).map((name) => `${key} ${name}`),
        )
      expect(facts(await world.rebuild('order'))).to.include.members(facts(world.stores.order))
    }
  })

  it('appears in the list of `make dead-letters`, and its details can be shown', async () => {
    for (const combination of combinations.filter(({ refusal }) => refusal === 'conflict')) {
      const { world } = await deliverLarge(largestRecords(combination, 3))
      const deadLetters = await readDeadLetters(world.log)
      expect(groupLines(deadLetters).join('\n')).to.contain('order-service')
      expect(entryTable(deadLetters.entries)).to.have.length(deadLetters.entries.length + 3)
      for (const entry of deadLetters.entries) {
        const event = await readEvent(world.log, newestAttempt(entry))
        const start = performance.now()
        const lines = entryLines(entry, event, false).join('\n')
        expect(performance.now() - start).to.be.below(notEndlessMs)
        expect(lines).to.contain('"Name": "Order')
        expect(lines).not.to.match(/Mallory|Lovelace|nest too deep/)
      }
    }
  })
})
