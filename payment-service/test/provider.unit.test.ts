import { expect } from 'chai'
import { cancelled, created, expired } from './payments.ts'
import { hourMs, Shop, secondMs } from './provided.ts'

// Each incident was reported for another system. A comment names its thread, and the way in which it happened there.
describe('a payment by a provider', () => {
  let shop: Shop
  const open = async (...args: Parameters<typeof Shop.open>) => {
    shop = await Shop.open(...args)
    return shop.start()
  }
  afterEach(() => shop.provider.stop())

  it('becomes approved when the provider has captured it, and is pending until then', async () => {
    const service = await open()
    shop.provider.set({ isDown: true })
    await service.react(created())
    await service.passing()
    expect(await service.get()).to.include({ status: 'Pending', policy: 'provider@1' })
    shop.provider.set({ isDown: false })
    await service.passing(10 * secondMs)
    expect(await service.get()).to.include({ status: 'Approved', amount: 42.5 })
    expect(shop.names()).to.deep.equal(['PaymentPending', 'PaymentAuthorised', 'PaymentApproved'])
    expect(shop.ledger()).to.deep.equal({ authorised: 1, captured: 1, cancelled: 0, refunded: 0 })
  })

  it('becomes rejected with the reason of the provider', async () => {
    const service = await open()
    shop.provider.set({ declines: 1 })
    await service.react(created())
    await service.passing(secondMs)
    expect(await service.get()).to.include({ status: 'Rejected', reason: 'the card was declined' })
    expect(shop.names()).to.deep.equal(['PaymentPending', 'PaymentRejected'])
  })

  // medusajs/medusa#16681: the answer was lost, and the next try had a new key, so the money went out twice.
  it('charges once although answers are lost', async () => {
    const service = await open()
    shop.provider.set({ lostAnswers: 1 })
    await service.react(created())
    await service.passing(5 * secondMs)
    expect(shop.ledger()).to.include({ authorised: 1, captured: 0 })
    shop.provider.set({ lostAnswers: 0 })
    await service.passing(30 * secondMs)
    expect(await service.get()).to.include({ status: 'Approved' })
    expect(shop.ledger()).to.deep.equal({ authorised: 1, captured: 1, cancelled: 0, refunded: 0 })
  })

  it('refunds once although answers are lost', async () => {
    const service = await open()
    await service.react(created())
    await service.passing(2 * secondMs)
    shop.provider.set({ lostAnswers: 1 })
    await service.react(cancelled())
    await service.passing(5 * secondMs)
    shop.provider.set({ lostAnswers: 0 })
    await service.passing(30 * secondMs)
    expect(await service.get()).to.include({ status: 'Refunded' })
    expect(shop.ledger()).to.deep.equal({ authorised: 1, captured: 1, cancelled: 0, refunded: 1 })
  })

  // Stripe repeats the saved 500 of a key. A caller that repeats its key until success waits for ever, and one that takes a new key charges twice.
  it('charges once if the provider repeats an error for its key', async () => {
    const service = await open({ KeyHours: 1 })
    shop.provider.set({ errors: 1 })
    await service.react(created())
    await service.passing(5 * secondMs)
    shop.provider.set({ errors: 0 })
    await service.passing(50 * 60 * secondMs, 100 * secondMs)
    expect(await service.get()).to.include({ status: 'Pending' })
    await service.passing(hourMs, 200 * secondMs)
    expect(await service.get()).to.include({ status: 'Approved' })
    expect(shop.ledger()).to.deep.equal({ authorised: 1, captured: 1, cancelled: 0, refunded: 0 })
  })

  it('charges once if the provider has forgotten the key', async () => {
    const service = await open({ KeyHours: 0 })
    shop.provider.set({ lostAnswers: 1, forgottenKeys: 1 })
    await service.react(created())
    await service.passing(secondMs)
    shop.provider.set({ lostAnswers: 0 })
    await service.passing(30 * secondMs)
    expect(await service.get()).to.include({ status: 'Approved' })
    expect(shop.ledger()).to.deep.equal({ authorised: 1, captured: 1, cancelled: 0, refunded: 0 })
  })

  it('asks a person if the provider has forgotten the key, and cannot be asked', async () => {
    const service = await open({ KeyHours: 0, Lookup: false })
    shop.provider.set({ lostAnswers: 1, forgottenKeys: 1 })
    await service.react(created())
    const errors = await service.passing(30 * secondMs)
    expect(errors.map((error) => (error as Error & { code: string }).code)).to.deep.equal(['call-unknown'])
    await service.passing(24 * hourMs, hourMs)
    expect(shop.ledger()).to.include({ authorised: 1, captured: 0 })
    expect(shop.events('calls')).to.have.length(1)
  })

  // woocommerce-gateway-stripe#5485: a timer cancelled an order whose payment was captured at the same time.
  it('stays paid if its order expires after the capture, whose answer was lost', async () => {
    const service = await open()
    shop.provider.set({ lostAnswers: 1, faultyOperation: 'capture' })
    await service.react(created())
    await service.passing(secondMs)
    expect(shop.ledger()).to.include({ captured: 1 })
    expect(await service.get()).to.include({ status: 'Pending' })
    await service.react(expired())
    await service.passing(20 * secondMs)
    expect(await service.get()).to.include({ status: 'Approved' })
    expect(shop.names()).not.to.include('PaymentRejected')
    expect(shop.ledger()).to.deep.equal({ authorised: 1, captured: 1, cancelled: 0, refunded: 0 })
  })

  it('becomes rejected if its order expires while the provider does not answer', async () => {
    const service = await open()
    shop.provider.set({ isDown: true })
    await service.react(created())
    await service.passing(secondMs)
    await service.react(expired())
    await service.passing(secondMs)
    shop.provider.set({ isDown: false })
    await service.passing(30 * secondMs)
    expect(await service.get()).to.include({ status: 'Rejected', reason: 'the order was not paid in time' })
    expect(shop.ledger()).to.deep.equal({ authorised: 0, captured: 0, cancelled: 1, refunded: 0 })
  })

  // Automattic/woocommerce-payments#3118: the charge stayed on a cancelled order.
  it('refunds once if the capture succeeds although its order was cancelled meanwhile', async () => {
    const service = await open()
    await service.react(created())
    shop.provider.set({ slowMs: 30 })
    await service.passing(secondMs)
    await service.react(cancelled())
    await service.passing(60 * secondMs)
    const { captured, refunded } = shop.ledger()
    expect(captured).to.equal(refunded)
    expect(await service.get()).to.include({ status: captured > 0 ? 'Refunded' : 'Rejected' })
  })

  it('becomes rejected if its authorisation has lapsed', async () => {
    const service = await open()
    shop.provider.set({ lapseAfterMs: -1 })
    await service.react(created())
    await service.passing(3 * secondMs)
    expect(await service.get()).to.include({ status: 'Rejected', reason: 'the authorisation has lapsed' })
    expect(shop.ledger()).to.deep.equal({ authorised: 1, captured: 0, cancelled: 0, refunded: 0 })
  })

  it('charges once although the store was lost and rebuilt', async () => {
    const service = await open()
    shop.provider.set({ lostAnswers: 1 })
    await service.react(created())
    await service.passing(secondMs)
    shop.provider.set({ lostAnswers: 0 })
    expect(shop.ledger()).to.include({ authorised: 1 })
    shop.sidecar.documents.clear()
    const rebuilt = shop.start()
    for (const event of shop.events()) await rebuilt.restore(event)
    await rebuilt.passing(30 * secondMs)
    expect(await rebuilt.get()).to.include({ status: 'Approved' })
    expect(shop.ledger()).to.deep.equal({ authorised: 1, captured: 1, cancelled: 0, refunded: 0 })
  })
})
