import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { indexRecord, savedFixture, testIndex } from '@orderflow/event-monitor/testing'
import { service } from '@orderflow/payment-service/service'
import { createApp, createLog, readSettings } from '@orderflow/service-kit'
import { FakeLog, FakeSidecar, send, withServer } from '@orderflow/service-kit/testing'
import { poisonOf } from '@orderflow/test-kit'
import { event, fixture, scenario } from '@orderflow/test-kit/scenario'
import { expect } from 'chai'

const topic = 'orderevents'
const settings = readSettings(service, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' })
const invalidAmount = event('OrderCreated', { Total: 42.123 })

describe('a fixture that the monitor saves', () => {
  let folder: string
  let index: ReturnType<typeof testIndex>
  let log: FakeLog
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'monitor-fixture-'))
    index = testIndex()
    log = new FakeLog()
  })
  afterEach(() => {
    index.close()
    rmSync(folder, { recursive: true })
  })

  function append(record: {
    topic: string
    key: string | undefined
    value: Uint8Array
    headers?: Record<string, string>
  }) {
    const position = log.append({ ...record, timestamp: 0 })
    const { key, headers = {} } = record
    const options = {
      topic: record.topic,
      offset: Number(position.offset),
      at: 0,
      headers,
      ...(key !== undefined && { key }),
    }
    index.add(indexRecord(Buffer.from(record.value), options))
    return position
  }

  /** Publishes a record, lets payment-service handle it, and publishes the dead letter. */
  async function handle(value: string | Buffer | null) {
    const position = append({ topic, key: 'Grace Hopper', value: Buffer.from(value ?? '') })
    const sidecar = new FakeSidecar()
    const log = createLog('payment-service', 'silent')
    const app = createApp(service, { settings, log, sidecar, now: () => new Date(0), newId: () => crypto.randomUUID() })
    const metadata = { __key: 'Grace%20Hopper', __partition: '0', __offset: position.offset, __timestamp: '0' }
    // The sidecar delivers a tombstone as the text null.
    const entries = [{ entryId: '1', event: Buffer.from(value ?? 'null').toString('base64'), metadata }]
    await withServer(app.channel, (url) =>
      send(`${url}/subscriptions/${topic}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'dapr-api-token': 'app' },
        body: JSON.stringify({ entries }),
      }),
    )
    const [deadLetter] = sidecar.published.filter((each) => each.topic === `${topic}.dead`)
    return { position, deadLetterPosition: deadLetter && append(deadLetter) }
  }

  /** Saves a fixture, as the page does. */
  async function save(position: Parameters<typeof savedFixture>[1], reason?: string): Promise<URL> {
    const { reads } = index
    const monitor = {
      index: { ask: async (_: 'rejection', ...args: Parameters<typeof reads.rejection>) => reads.rejection(...args) },
      log: { read: (work: (reader: FakeLog) => unknown) => work(log) },
      ledger: { record() {} },
      services: [{ name: 'payment-service', consumes: [topic] }],
      now: () => new Date(0),
    }
    const { fileName, content } = await savedFixture(monitor as never, position, { caller: undefined })
    const file = join(folder, fileName)
    writeFileSync(file, JSON.stringify(content))
    expect(content.reason).to.equal(reason)
    expect(JSON.stringify(content)).not.to.contain('Hopper')
    return pathToFileURL(file)
  }

  const cases = {
    'an amount with too many decimals': { value: JSON.stringify(invalidAmount), reason: 'invalid-amount' },
    ...poisonOf('OrderCreated@1'),
  }
  for (const [what, { value, reason }] of Object.entries(cases)) {
    it(`repeats the rejection in the test of the service: ${what}`, async () => {
      const { position, deadLetterPosition } = await handle(value)
      for (const each of [position, deadLetterPosition ?? expect.fail('the event was not rejected')]) {
        await scenario(service)
          .when(fixture(await save(each, reason)))
          .then({ rejected: [reason] })
      }
    })
  }

  it('passes in the test of the service if the service handled the event', async () => {
    const { position } = await handle(JSON.stringify(event('OrderCreated', { CustomerName: 'Grace Hopper', Total: 7 })))
    await scenario(service)
      .when(fixture(await save(position)))
      .then({ published: [{ Name: 'PaymentApproved', Payload: { Amount: 7 } }] })
  })
})
