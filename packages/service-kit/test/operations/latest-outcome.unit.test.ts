import { randomUUID } from 'node:crypto'
import type { FullEvent } from '@orderflow/envelope'
import { expect } from 'chai'
import { openAttempt, readDeadLetters } from '../../src/operations/dead-letters/entries.ts'
import { rebuildTopic } from '../../src/operations/rebuild.ts'
import { createStoredEffects } from '../../src/runtime/dry-run/stored-effects.ts'
import { createDocuments, type DocumentsOf } from '../../src/state/documents.ts'
import { createConsumer } from '../../src/stream/consuming/consumer.ts'
import { readRecord } from '../../src/stream/dead-letters/dead-letter-record.ts'
import type { BulkEntry } from '../../src/stream/log/record.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { FakeLog } from '../../src/testing/fake-log.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { UntrustedError } from '../../src/trust/trust.ts'
import { openTrust } from '../support/open-trust.ts'

const value = JSON.stringify({
  AppId: randomUUID(),
  AppName: 'older-application',
  Version: 1,
  Name: 'OrderCreated',
  CreationDate: '2026-11-21T10:00:00Z',
  Payload: { OrderId: randomUUID(), CustomerName: 'Ada', CustomerTaxId: 'T', Total: 1 },
})

const reactionsOn = (documentsOf: DocumentsOf) => ({
  orderevents: {
    OrderCreated: ({ Payload: { OrderId: key, Total } }: FullEvent<'OrderCreated'>) =>
      documentsOf('').change({
        key,
        bytes: 100,
        decide(view) {
          if (view.get(key) !== undefined) return false
          view.write({ Total })
          return true
        },
      }),
  },
})

describe('a record with several outcomes', () => {
  let log: FakeLog
  let documentsOf: DocumentsOf
  beforeEach(() => {
    documentsOf = createDocuments(new FakeSidecar(), () => new Date(), true)
    log = new FakeLog()
    log.append({ topic: 'orderevents', value, key: 'k', timestamp: 1_795_000_000_000 })
    log.append({ topic: 'orderevents.dead', value: 'of another application' })
  })

  /** Delivers the record to a new process of a service, as after a restart. The process may fail on the record. */
  async function deliver(app: string, outcome: 'accepts' | 'distrusts' | 'has a bug'): Promise<void> {
    const entry: BulkEntry = {
      entryId: '1',
      value: Buffer.from(value),
      metadata: { __partition: '0', __offset: '0', __key: 'k', __timestamp: '1795000000000' },
    }
    const handlers = {
      OrderCreated: async (event: FullEvent<'OrderCreated'>) => {
        if (outcome === 'has a bug') throw new TypeError('a bug')
        return reactionsOn(documentsOf).orderevents.OrderCreated(event)
      },
    }
    const requireTrusted = () => {
      if (outcome === 'distrusts') throw new UntrustedError('not listed')
    }
    const consumer = createConsumer('orderevents', handlers, {
      app,
      publish: async (event) => void log.append(event),
      trust: { ...openTrust, requireTrusted },
      refusals: new Set(),
      appendTimes: async () => new Map(),
      earlierDeadLetters: async () => earlierDeadLetters(app),
      isStored: createStoredEffects({ rebuildOn: reactionsOn, documents: documentsOf, trust: openTrust }),
      log: createLog(app, 'silent'),
      metrics: createMetrics(),
      now: () => new Date(),
    })
    expect((await consumer.deliver([[entry]])).map(({ status }) => status)).to.deep.equal(['SUCCESS'])
  }

  function earlierDeadLetters(app: string): Set<string> {
    const records = log.records.filter(({ topic }) => topic === 'orderevents.dead').map(readRecord)
    return new Set(
      records.flatMap((one) => (one.kind === 'dead-letter' && one.app === app && one.record ? [one.record] : [])),
    )
  }

  const rebuilt = async (app: string) => {
    const { applied, aside } = await rebuildTopic(
      'orderevents',
      { OrderCreated: async () => true },
      {
        ...{ app, trust: openTrust, refusals: new Set<string>(), log, range: {} },
        onProgress: () => {},
        onWait: () => {},
      },
    )
    return { applied, aside }
  }
  const open = async () => {
    const { entries } = await readDeadLetters(log)
    return entries.filter(openAttempt).map(({ app }) => app)
  }

  for (const first of ['distrusts', 'has a bug'] as const) {
    it(`takes effect in a rebuild if the first process ${first} and the second one accepts`, async () => {
      await deliver('order-service', first)
      await deliver('order-service', 'accepts')
      expect(await rebuilt('order-service')).to.deep.equal({ applied: 1, aside: {} })
      expect(await open()).to.deep.equal([])
    })
  }

  for (const second of ['distrusts', 'has a bug'] as const) {
    it(`takes effect in a rebuild if the first process accepts and the second one ${second}`, async () => {
      await deliver('order-service', 'accepts')
      await deliver('order-service', second)
      expect(await rebuilt('order-service')).to.deep.equal({ applied: 1, aside: {} })
      expect(await open()).to.deep.equal(['order-service'])
    })
  }

  it('takes effect in a rebuild if a process accepts between two that reject', async () => {
    for (const outcome of ['distrusts', 'accepts', 'has a bug'] as const) await deliver('order-service', outcome)
    expect(await rebuilt('order-service')).to.deep.equal({ applied: 1, aside: {} })
    expect(await open()).to.deep.equal(['order-service'])
  })

  it('takes no effect in a rebuild if all processes reject', async () => {
    for (const outcome of ['distrusts', 'has a bug'] as const) await deliver('order-service', outcome)
    expect(await rebuilt('order-service')).to.deep.equal({ applied: 0, aside: { 'handler-error': 1 } })
    expect(await open()).to.deep.equal(['order-service'])
  })

  it('takes effect only in a rebuild of the service that accepted it', async () => {
    for (const app of ['order-service', 'payment-service']) await deliver(app, 'distrusts')
    await deliver('order-service', 'accepts')
    expect(await rebuilt('order-service')).to.deep.equal({ applied: 1, aside: {} })
    expect(await rebuilt('payment-service')).to.deep.equal({ applied: 0, aside: { untrusted: 1 } })
    expect(await open()).to.deep.equal(['payment-service'])
  })

  it('gets an acceptance only after a dead letter', async () => {
    for (let time = 0; time < 2; time += 1) await deliver('order-service', 'accepts')
    expect(log.records).to.have.length(2)
  })
})
