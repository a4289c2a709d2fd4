import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { orderUrl, orderWith } from '@orderflow/chaos/clients/api'
import { reduced } from '@orderflow/chaos/clients/envelopes'
import { createHttpClient, type HttpClientOptions } from '@orderflow/chaos/load/http-client'
import { type Load, startHttpLoad } from '@orderflow/chaos/load/http-load'
import { httpOrder, type PlannedOrder } from '@orderflow/chaos/load/orders'
import { createTally } from '@orderflow/chaos/load/tally'
import { orderEvents } from '@orderflow/envelope-schema'
import { openLog } from '@orderflow/kafka-log'
import { readDeadLetters } from '@orderflow/service-kit/operations'
import type { LocalStack } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { kafkaOf } from '@orderflow/stack/internals'
import { createProducer } from '@orderflow/test-kit'
import { operatorOf } from '@orderflow/test-kit/stacks'
import { expect } from 'chai'
import { readCopied } from './copied.ts'
import { acceptedIn, auditRegion, decidedTwice, type Entry, openAttempts, readRecords } from './ledger.ts'
import { type MirrorMaker, startMirrorMaker } from './mirror-maker.ts'
import { openRegion, type Region } from './region.ts'

const perSecond = 20
/** The time between the last copied record and the loss of the region. */
const uncopiedMs = 1_000
/** Orders of the first seconds are cancelled, so that cancellations and refunds are copied, too. */
const cancelledBefore = 100

/** The largest number of missing records of a target whose source still receives orders. */
const nearly = 1_000

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
const print = (line: string) => console.log(`      ${line}`)

describe('two regions, of which one is passive', function () {
  this.bail(true)
  this.timeout(300_000)
  const attempts = openAttempts()
  const urls: string[] = []
  const options: HttpClientOptions = {
    ...{ urls, book: attempts, tally: createTally(), keys: 'regions', patienceMs: 200 },
    isOver: () => false,
  }
  const client = createHttpClient(options)
  let a: Region
  let b: Region
  let stack: LocalStack
  let mirror: MirrorMaker
  let load: Load
  let begun = 0
  /** The accepted orders that region b lacks after the loss of region a. */
  let tail: Entry[] = []
  /** The orders with records that only region a had when it returned. */
  const inBoth = new Set<string>()
  const poison = reduced({ CustomerName: 'Grace Hopper', Total: '10' })

  const plan = (index: number): PlannedOrder => {
    const order = httpOrder('regions', index)
    return { ...order, cancelAfterMs: index < cancelledBefore && index % 10 === 0 ? 1_000 : undefined }
  }
  const startLoad = () => {
    const first = begun
    load = startHttpLoad((index) => plan(first + index), perSecond, options)
  }
  const endLoad = async () => {
    await load.end()
    begun += load.begun()
  }
  const setUrl = (to: LocalStack) => void urls.splice(0, 1, orderUrl(to))
  /** Places an order as a client that repeats its request until it is accepted. Waits until the order is paid. */
  const pays = async (name: string) => {
    const placed = await client.place({ name, total: 10, cancelAfterMs: undefined })
    if (!placed) throw new Error(`${name} was not accepted`)
    await orderWith(orderUrl(stack), placed.id, 'Paid', 60_000)
  }
  const deadLetters = async ({ plan }: Region) => {
    const log = openLog(kafkaOf(plan))
    return await readDeadLetters(log).finally(() => log.close())
  }

  before(async function () {
    this.timeout(0)
    a = await openRegion('a')
    b = await openRegion('b')
    stack = await a.start()
    setUrl(stack)
    await b.startKafka()
    await b.makePassive()
    await b.moveOffsets()
    mirror = await startMirrorMaker(a, b)
  })
  after(async () => {
    await load?.end()
    await a?.release()
    await b?.release()
    attempts.close()
  })

  it('copies events and dead letters while clients place orders', async () => {
    startLoad()
    const producer = createProducer(kafkaOf(a.plan))
    await producer.send({ topic: 'orderevents', value: JSON.stringify(poison) })
    await producer.close()
    await eventually(async () => (await deadLetters(a)).entries.length === 2, 'the dead letters of both services')
    await mirror.copied(nearly)
    await eventually(async () => (await deadLetters(b)).entries.length === 2, 'their copies')
    await eventually(async () => (await b.positions()).some(({ next }) => next > 1n), 'positions of groups')
    await delay(15_000)
  })

  it('copies positions of payment-service that are behind unpaid orders, if payments are copied late', async () => {
    await mirror.stop()
    mirror = await startMirrorMaker(a, b, { topics: orderEvents })
    await eventually(async () => (await readCopied(b)).passed.length > 20, 'orders whose payments are not copied')
  })

  it('pays all copied orders after the loss of a region', async () => {
    mirror.freeze()
    const cutAt = Date.now()
    const acceptedAtCut = acceptedIn(attempts)
    await delay(uncopiedMs)
    const killedAt = Date.now()
    await a.kill()
    const accepted = acceptedIn(attempts)
    await mirror.kill()
    const { orders, unpaid, passed, newest } = await readCopied(b)
    stack = await b.promote()
    print(`region b is active after ${seconds(Date.now() - killedAt)}`)
    setUrl(stack)
    await pays('the first order in region b')
    const rtoMs = Date.now() - killedAt
    tail = accepted.filter(({ id }) => !orders.has(id))
    const lost = acceptedAtCut.filter(({ id }) => !orders.has(id))
    print(
      `RPO: ${lost.length} of ${acceptedAtCut.length} orders; the newest copied record was ${cutAt - newest} ms old`,
    )
    print(`not copied in the last ${uncopiedMs} ms: ${tail.map(({ name }) => name).join(', ')}`)
    print(
      `${unpaid.length} orders were copied without their payments; copied positions are behind ${passed.length} of them`,
    )
    print(`RTO: ${seconds(rtoMs)} from the loss until the first order was paid`)
    expect(tail).to.have.length.above(0)
    await delay(3_000)
  })

  it('replays a dead letter of the lost region', async () => {
    const before = await deadLetters(b)
    expect(before.entries.map(({ app, attempts: own }) => [app, own.length])).to.have.deep.members([
      ['order-service', 1],
      ['payment-service', 1],
    ])
    const folder = mkdtempSync(join(tmpdir(), 'orderflow-regions-'))
    const file = join(folder, 'event.json')
    writeFileSync(file, JSON.stringify({ ...poison, Payload: { ...poison.Payload, Total: 10 } }))
    const { OrderId: id, CustomerName: name } = poison.Payload
    const operate = operatorOf(stack, b.plan.ports)
    const ended = await operate('order-service', [
      'dead-letters',
      'replay',
      before.entries[0]?.id ?? '',
      '--file',
      file,
    ])
    rmSync(folder, { recursive: true })
    expect(ended.code, ended.stderr).to.equal(0)
    attempts.attempted({ name, source: 'outside', total: 10, id })
    attempts.accepted(name, id)
    await orderWith(orderUrl(stack), id, 'Paid')
  })

  it('accepts an order again that was not copied, if its client repeats the request', async () => {
    await endLoad()
    const { findings, behind } = await auditRegion(b, stack, attempts)
    expect(behind).to.equal(0)
    const lost = findings.filter(({ kind }) => kind === 'lost').flatMap(({ ids }) => ids)
    expect([...new Set(lost)]).to.have.members(tail.map(({ id }) => id))
    expect(findings.filter(({ kind }) => kind !== 'lost')).to.deep.equal([])
    for (const { name, id } of tail.filter((_, index) => index % 2 === 0)) {
      const again = await client.place(plan(Number(name.split(' ')[1])))
      expect(again?.id).to.equal(id)
    }
  })

  it('pays the other orders, too, when the lost region returns', async () => {
    startLoad()
    await a.startKafka()
    const copied = new Set((await readRecords(b)).map(({ digest }) => digest))
    for (const { digest, id } of await readRecords(a)) if (!copied.has(digest)) inBoth.add(id)
    const startedAt = Date.now()
    mirror = await startMirrorMaker(a, b, { 'sync.group.offsets.enabled': 'false' })
    await mirror.copied()
    await mirror.stop()
    print(`the remaining records of ${inBoth.size} orders were copied in ${seconds(Date.now() - startedAt)}`)
    await endLoad()
    await expectComplete(b)
  })

  it('returns to the first region without a loss', async () => {
    startLoad()
    await a.clean()
    await a.startKafka()
    await a.makePassive()
    const startedAt = Date.now()
    mirror = await startMirrorMaker(b, a)
    await mirror.copied(nearly)
    print(`region b was copied in ${seconds(Date.now() - startedAt)}`)
    const stoppedAt = Date.now()
    await b.stopServices()
    await mirror.copied()
    await mirror.stop()
    stack = await a.promote()
    setUrl(stack)
    await pays('the first order after the return')
    print(`RTO of the return: ${seconds(Date.now() - stoppedAt)} from the stop until the first order was paid`)
    await delay(3_000)
    await endLoad()
    const paid = await expectComplete(a)
    print(`ledger: ${acceptedIn(attempts).length} orders were accepted, and ${paid} are paid; RPO of the return: 0`)
    const { entries } = await deadLetters(a)
    expect(entries.map(({ attempts: own }) => own.map(({ replayed }) => replayed !== undefined))).to.deep.equal([
      [true],
      [true],
    ])
  })

  /** Expects that each accepted order has one payment. Returns the number of paid orders. */
  async function expectComplete(region: Region): Promise<number> {
    const { findings, behind, paid } = await auditRegion(region, stack, attempts)
    expect(behind).to.equal(0)
    const twice = findings.filter(({ what }) => what === decidedTwice).flatMap(({ ids }) => ids)
    expect(findings.filter(({ what }) => what !== decidedTwice)).to.deep.equal([])
    expect([...inBoth]).to.include.members(twice)
    print(`${twice.length} orders have a record of their payment from each region`)
    return paid
  }
})
