import { expect } from 'chai'
import { SidecarError } from '../../../src/sidecar/sidecar.ts'
import { createConsumer } from '../../../src/stream/consuming/consumer.ts'
import type { BulkEntry } from '../../../src/stream/log/record.ts'
import { scrape } from '../../../src/testing/scrape.ts'
import { openInspector } from '../../support/open-inspector.ts'
import { virtualTime } from '../../support/virtual-time.ts'
import { consuming, entry, envelope } from './consuming.ts'

describe('createConsumer, about deliveries', () => {
  const time = virtualTime()
  const tested = consuming()
  const { consume, handlers, lines, options } = tested

  it('returns RETRY for an event and for later events with its key if the store or the broker failed', async () => {
    tested.handle = async ({ Payload }) => {
      if (Payload.Total === 2) throw new SidecarError('write state', new Error('down'))
    }
    const statuses = await consume(
      entry(envelope, 'k'),
      entry({ ...envelope, Payload: { ...envelope.Payload, Total: 2 } }, 'k'),
      entry(envelope, 'other'),
      entry(envelope, 'k'),
      entry(envelope),
    )
    expect(statuses).to.deep.equal(['SUCCESS', 'RETRY', 'SUCCESS', 'RETRY', 'SUCCESS'])
    expect(tested.sidecar.published).to.deep.equal([])
    expect(lines()).to.have.lengthOf(1)
    expect(lines()[0]).to.include({
      level: 50,
      topic: 'orderevents',
      msg: 'a part of the batch will be delivered again',
    })
    expect(lines()[0].err.message).to.contain('down')
  })

  it('returns SUCCESS for handled events, and logs nothing', async () => {
    expect(await consume(entry(envelope, 'k'), entry(envelope, 'k'))).to.deep.equal(['SUCCESS', 'SUCCESS'])
    expect(tested.logged).to.deep.equal([])
  })

  it('returns RETRY for a bad event if its dead letter could not be published', async () => {
    tested.sidecar.failures.publish.push(new SidecarError('publish', new Error('down')))
    expect(await consume(entry('{'))).to.deep.equal(['RETRY'])
  })

  describe('for a delivery in several parts', () => {
    const down = () => new SidecarError('write state', new Error('down'))
    const statusesOf = async (parts: AsyncIterable<BulkEntry[]> | Iterable<BulkEntry[]>, given = options()) => {
      const statuses = await createConsumer('orderevents', handlers, given).deliver(parts)
      return statuses.map(({ entryId, status }) => `${entryId} ${status}`)
    }

    it('handles a part after the previous part, and returns the statuses of all parts in order', async () => {
      let inFlight = 0
      const sizes: number[] = []
      tested.handle = async () => {
        inFlight += 1
        await new Promise((resolve) => setImmediate(resolve))
        sizes.push(inFlight)
        inFlight -= 1
      }
      const parts = [[entry(envelope), entry(envelope)], [entry(envelope)], [entry('{'), entry(envelope)]]
      expect(await statusesOf(parts)).to.deep.equal([1, 2, 3, 4, 5].map((id) => `e${id} SUCCESS`))
      expect(sizes).to.deep.equal([2, 1, 1, 1])
    })

    it('does not attempt later records with the key of a failed record', async () => {
      const keys: string[] = []
      tested.handle = async ({ Payload }) => {
        keys.push(Payload.CustomerName)
        if (Payload.CustomerName === 'b1') throw down()
      }
      const named = (CustomerName: string) => ({ ...envelope, Payload: { ...envelope.Payload, CustomerName } })
      const record = (name: string) => entry(named(name), name.slice(0, 1))
      const parts = [
        [record('a1'), record('b1')],
        [record('b2'), record('a2')],
        [record('b3'), entry('{', 'b')],
      ]
      const [SUCCESS, RETRY] = ['SUCCESS', 'RETRY']
      const expected = [SUCCESS, RETRY, RETRY, SUCCESS, RETRY, RETRY].map((status, index) => `e${index + 1} ${status}`)
      expect(await statusesOf(parts)).to.deep.equal(expected)
      expect(keys).to.deep.equal(['a1', 'b1', 'a2'])
      expect([tested.sidecar.published, lines().length]).to.deep.equal([[], 1])
    })

    it('attempts all later records if the failed record has no key', async () => {
      const answers = [() => Promise.reject(down()), async () => {}]
      tested.handle = async () => answers.shift()?.()
      expect(await statusesOf([[entry(envelope)], [entry(envelope)]])).to.deep.equal(['e1 RETRY', 'e2 SUCCESS'])
    })

    it('publishes the dead letters of every part', async () => {
      await statusesOf([[entry('{')], [entry(envelope), entry('[')], [entry('}')]])
      expect(tested.sidecar.published.map(({ headers }) => headers['deadletter-offset'])).to.deep.equal(['1', '3', '4'])
    })

    /** Delivers four parts. Each of the first three takes 25 seconds. */
    async function deliverSlowly(): Promise<string[]> {
      tested.handle = async (event) => {
        tested.handled.push(event)
        time.passAtOnce(25_000)
      }
      return await statusesOf([[entry(envelope)], [entry(envelope)], [entry(envelope)], [entry('{')]])
    }

    it('answers RETRY for the parts that arrive more than 30 seconds after the delivery', async () => {
      expect(await deliverSlowly()).to.deep.equal(['e1 SUCCESS', 'e2 SUCCESS', 'e3 RETRY', 'e4 RETRY'])
      expect([tested.handled.length, tested.sidecar.published]).to.deep.equal([2, []])
      expect(lines().map(({ err }) => err.message)).to.deep.equal([
        'the earlier records of the delivery took more than 30000 ms',
      ])
    })

    describe('with an inspector', () => {
      openInspector()

      it('handles all parts, although a debugger stopped the process for longer than 30 seconds', async () => {
        expect(await deliverSlowly()).to.deep.equal([1, 2, 3, 4].map((id) => `e${id} SUCCESS`))
      })
    })

    it('counts the events of all parts as one delivery', async () => {
      const { metrics } = options()
      const early = entry(envelope)
      early.metadata.__timestamp = String(Date.parse('2026-11-21T09:59:58Z'))
      await statusesOf([[entry(envelope)], [early, entry(envelope)]], { ...options(), metrics })
      const samples = await scrape(metrics.listener)
      const names = ['delivery_size_events_sum', 'delivery_size_events_count', 'delivery_wait_seconds_sum']
      const of = (name: string) => samples.get(`orderflow_${name}{topic="orderevents"}`)
      expect([...names, 'events_in_flight'].map(of)).to.deep.equal([3, 1, 2, 0])
    })

    it('counts the handled events, and rejects, if the rest of the delivery does not arrive', async () => {
      const { metrics } = options()
      async function* broken() {
        yield [entry(envelope), entry(envelope)]
        throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
      }
      const failure = await statusesOf(broken(), { ...options(), metrics }).catch((error: unknown) => error)
      expect(failure).to.have.property('code', 'ECONNRESET')
      const samples = await scrape(metrics.listener)
      expect(samples.get('orderflow_events_total{topic="orderevents",outcome="handled"}')).to.equal(2)
      expect(samples.get('orderflow_events_in_flight{topic="orderevents"}')).to.equal(0)
    })
  })

  it('ends the current attempt of a repeated delivery before it attempts the record again, and attempts no more records', async () => {
    const steps: string[] = []
    const ends: (() => void)[] = []
    tested.handle = async ({ Payload }) => {
      steps.push(`begin ${Payload.CustomerName}`)
      await new Promise<void>((resolve) => ends.push(resolve))
      steps.push(`end ${Payload.CustomerName}`)
    }
    const named = (CustomerName: string) =>
      entry({ ...envelope, Payload: { ...envelope.Payload, CustomerName } }, CustomerName)
    const [a, b] = [named('a'), named('b')]
    const consumer = createConsumer('orderevents', handlers, options())
    const turns = async () => {
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
    }
    const first = consumer.deliver([[a], [b]])
    await turns()
    const second = consumer.deliver([[a]])
    await turns()
    expect(steps).to.deep.equal(['begin a'])
    ends.shift()?.()
    await turns()
    expect(steps).to.deep.equal(['begin a', 'end a', 'begin a'])
    ends.shift()?.()
    const statuses = (await Promise.all([first, second])).map((all) => all.map(({ status }) => status))
    expect(statuses).to.deep.equal([['SUCCESS', 'RETRY'], ['SUCCESS']])
  })

  it('attempts a record with a dead letter once, even if its delivery is repeated', async () => {
    const steps: string[] = []
    let isBroken = true
    tested.handle = async ({ Payload }) => {
      steps.push(Payload.CustomerName)
      if (isBroken && Payload.CustomerName === 'a1') throw new TypeError('a bug')
    }
    const named = (CustomerName: string) =>
      entry({ ...envelope, Payload: { ...envelope.Payload, CustomerName } }, CustomerName.slice(0, 1))
    const [a1, a2] = [named('a1'), named('a2')]
    const consumer = createConsumer('orderevents', handlers, options())
    await consumer.deliver([[a1, a2]])
    isBroken = false
    expect((await consumer.deliver([[a1, a2]])).map(({ status }) => status)).to.deep.equal(['SUCCESS', 'SUCCESS'])
    expect(steps).to.deep.equal(['a1', 'a1', 'a2', 'a2'])
    // The topic was created again, and has another record at this position.
    await consumer.deliver([[{ ...named('a3'), metadata: a1.metadata }]])
    expect(steps.at(-1)).to.equal('a3')
    expect(tested.sidecar.published).to.have.length(1)
  })

  it('handles records of other keys while a record waits', async () => {
    const ended: string[] = []
    let endFirst = () => {}
    tested.handle = async ({ Payload }) => {
      if (Payload.CustomerName === 'slow') await new Promise<void>((resolve) => (endFirst = resolve))
      ended.push(Payload.CustomerName)
      if (ended.length === 2) endFirst()
    }
    const named = (CustomerName: string, key?: string) =>
      entry({ ...envelope, Payload: { ...envelope.Payload, CustomerName } }, key)
    await consume(named('slow', 'k'), named('later', 'k'), named('other', 'other'), named('none'))
    expect(ended).to.deep.equal(['other', 'none', 'slow', 'later'])
  })

  it('fails if a delivered record has no position', async () => {
    for (const field of ['__offset', '__partition']) {
      const nowhere = entry(envelope)
      delete nowhere.metadata[field]
      expect(await consume(nowhere).catch((error: Error) => error.message)).to.contain(
        'without its partition or offset',
      )
    }
  })

  it('retries only the failed event if it has no key', async () => {
    let calls = 0
    tested.handle = async () => {
      calls += 1
      if (calls === 1) throw new SidecarError('write state', new Error('down'))
    }
    expect(await consume(entry(envelope), entry(envelope))).to.deep.equal(['RETRY', 'SUCCESS'])
  })
})
