import { randomUUID } from 'node:crypto'
import { noTenant } from '@orderflow/envelope'
import { expect } from 'chai'
import { entity } from '../../src/entity/entity.ts'
import { facts } from '../../src/entity/facts.ts'
import { SidecarError, UncertainError } from '../../src/sidecar/sidecar.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { accountId, logOf, outage, rebuild, revisionsIn, start, startProcess } from './account.ts'

const failureOf = (call: Promise<unknown>) => call.catch((error: unknown) => error)
const conflict = () => new SidecarError('write state', new Error('possible etag mismatch'), 'conflict')

describe('a request with an Idempotency-Key', () => {
  it('gets a refusal if the key was used with another body, or for another entity', async () => {
    const process = start(new FakeSidecar())
    const OrderId = randomUUID()
    await process.charge(1, 'key', OrderId)
    expect((await process.charge(1, 'key', OrderId)).view.balance).to.equal(1)
    for (const again of [() => process.charge(2, 'key', OrderId), () => process.charge(1, 'key')]) {
      const refused = await again().catch((error: unknown) => error)
      expect(refused).to.include({ code: 'idempotency-key-reused' })
      expect(String(refused)).to.contain('with another body')
    }
    expect((await process.state(noTenant, accountId)).balance).to.equal(1)
  })

  it('gets a refusal if the key was used for another command with the same body', async () => {
    const process = start(new FakeSidecar())
    const [OrderId, context] = [randomUUID(), { tenant: noTenant, idempotencyKey: 'key' }]
    await process.charge(5, 'key', OrderId)
    const refused = await failureOf(process.do.refund(accountId, { OrderId, Amount: 5 }, context))
    expect(refused).to.include({ code: 'idempotency-key-reused' })
    expect((await process.state(noTenant, accountId)).balance).to.equal(5)
  })

  it('creates an entity once, also if it is repeated after a rebuild', async () => {
    const sidecar = new FakeSidecar()
    const { id } = await start(sidecar).open(1, 'key')
    const rebuilt = new FakeSidecar()
    expect((await rebuild(start(rebuilt), logOf(sidecar), id)).balance).to.equal(1)
    const again = await start(rebuilt).open(1, 'key')
    expect([again.id, again.view.balance]).to.deep.equal([id, 1])
    expect(logOf(rebuilt)).to.deep.equal([])
  })

  it('gets its own result although the same key has created its entity', async () => {
    const sidecar = new FakeSidecar()
    const process = start(sidecar)
    const { id } = await process.open(1, 'key')
    const context = { tenant: noTenant, idempotencyKey: 'key' }
    const charge = () => process.do.charge(id, { OrderId: accountId, Amount: 2 }, context)
    expect((await charge()).view.balance).to.equal(3)
    expect((await charge()).view.balance).to.equal(3)
    expect(revisionsIn(logOf(sidecar))).to.deep.equal([1, 2])
  })
})

describe('a request without an Idempotency-Key', () => {
  for (const [type, call] of [
    ['state.sqlite', 'transact'],
    ['state.mongodb', 'save'],
  ] as const) {
    it(`leads to one event, although the store reports a conflict with its own earlier attempt, on ${type}`, async () => {
      const sidecar = new FakeSidecar(type)
      const process = start(sidecar)
      await process.charge(1)
      const write = sidecar[call].bind(sidecar) as (...args: unknown[]) => Promise<void>
      Object.assign(sidecar, {
        async [call](...args: unknown[]) {
          Object.assign(sidecar, { [call]: write })
          await write(...args)
          throw conflict()
        },
      })
      expect((await process.charge(2)).view.balance).to.equal(3)
      expect(revisionsIn(logOf(sidecar))).to.deep.equal([1, 2])
    })
  }

  it('learns how to find out its result if the announcement fails, and with a key, that it can be repeated', async () => {
    const sidecar = new FakeSidecar()
    const process = start(sidecar)
    for (const [key, next] of [
      [undefined, 'Look for it in a moment.'],
      ['key', 'Send the request again until it succeeds.'],
    ] as const) {
      sidecar.failures.publish.push(outage())
      const failure = await failureOf(process.charge(1, key))
      expect(failure).to.be.instanceOf(UncertainError)
      expect(String(failure)).to.contain(next)
    }
  })
})

describe('a request while the store is down', () => {
  /** Other applications may publish OrderCreated. Only the service may publish PaymentRefunded. */
  const sale = entity({
    name: 'sale',
    id: ({ OrderId }) => OrderId,
    events: ['OrderCreated', 'PaymentRefunded'],
    ...facts(['OrderCreated', 'PaymentRefunded']),
    commands: {
      place: (isRefunded: boolean, _, { id }) => ({
        OrderCreated: { OrderId: id, CustomerName: 'Ada', CustomerTaxId: 'T', Total: 1 },
        ...(isRefunded && { PaymentRefunded: { PaymentId: id, OrderId: id, Amount: 1, Reason: 'r' } }),
      }),
    },
    view: (state) => state,
  })
  const place = (sidecar: FakeSidecar, isRefunded: boolean, idempotencyKey?: string) => {
    sidecar.failures.transact.push(outage())
    return startProcess(sale, sidecar).opened.do.place(undefined, isRefunded, { tenant: noTenant, idempotencyKey })
  }

  it('announces its events if the service also receives them from the log', async () => {
    const sidecar = new FakeSidecar()
    expect((await place(sidecar, false)).isStored).to.equal(false)
    expect(sidecar.published).to.have.length(1)
  })

  it('fails, and announces nothing, if it has a key or an event that only the service may publish', async () => {
    for (const [isRefunded, key] of [[true, undefined] as const, [false, 'key'] as const]) {
      const sidecar = new FakeSidecar()
      expect(await failureOf(place(sidecar, isRefunded, key))).to.be.instanceOf(SidecarError)
      expect([sidecar.published, sidecar.documents.size]).to.deep.equal([[], 0])
    }
  })
})

describe('an event that is larger than its topic allows', () => {
  it('gets a refusal before it is stored, and the next one is accepted', async () => {
    const sidecar = new FakeSidecar()
    const process = start(sidecar)
    const input = { OrderId: accountId, Amount: 1, Note: 'x'.repeat(260_000) }
    const refused = await failureOf(process.do.charge(accountId, input, { tenant: noTenant }))
    expect(refused).to.include({ code: 'refused-event' })
    expect(String(refused)).to.contain('PaymentApproved').and.to.contain('max.message.bytes')
    expect(sidecar.documents.has(`account/${accountId}`)).to.equal(false)
    await process.charge(2)
    expect(revisionsIn(logOf(sidecar))).to.deep.equal([1])
  })
})
