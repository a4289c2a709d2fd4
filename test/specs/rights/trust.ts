import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { anOrder, orderUrl, orderWith, post } from '@orderflow/chaos/clients/api'
import { full, reduced } from '@orderflow/chaos/clients/envelopes'
import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { Order } from '@orderflow/order-service/order'
import { publisherOf } from '@orderflow/service-kit/testing'
import { storedServices } from '@orderflow/stack'
import { eventually, newSecret } from '@orderflow/stack/base'
import { createProducer, openLog, settled } from '@orderflow/test-kit'
import { expect } from 'chai'
import type { StartedCheckout } from '../../support/checkouts/local-checkout.ts'
import { orderflowFailed, succeeded } from '../operations/commands.ts'

type Envelope = ReturnType<typeof reduced>

export function trustedPublishers(running: () => StartedCheckout): void {
  describe('an untrusted application', () => {
    let stack: StartedCheckout
    let producer: ReturnType<typeof createProducer>
    let log: Awaited<ReturnType<typeof openLog>>
    let asItWas: string
    let file: string
    let start: string
    let keys: Record<string, string>
    before(async () => {
      stack = running()
      producer = createProducer(stack.kafka)
      log = await openLog(stack.kafka, [orderEvents, `${orderEvents}.dead`, `${paymentEvents}.dead`])
      file = join(dirname(stack.folder), 'components/trust/trust.json')
      asItWas = readFileSync(file, 'utf8')
      await orderWith(orderUrl(stack), await place(), 'Paid')
      start = new Date().toISOString()
      keys = { Trust__SigningKeys: newSecret(), Trust__SignedSince: start }
      remember(keys)
      await trust('reject', {})
    })
    after(async () => {
      writeFileSync(file, asItWas)
      remember({ Trust__SigningKeys: undefined, Trust__SignedSince: undefined })
      for (const { name } of storedServices) succeeded(await stack.orderflow(['restart', name]))
      await Promise.all([producer?.close(), log?.close()])
    })

    /** Changes settings in the record of the stack, from which restarts and rebuilds take them. */
    function remember(settings: Record<string, string | undefined>): void {
      const recordFile = join(stack.folder, 'stack.json')
      const record = JSON.parse(readFileSync(recordFile, 'utf8'))
      writeFileSync(recordFile, JSON.stringify({ ...record, variables: { ...record.variables, ...settings } }))
    }
    async function trust(unlisted: string, publishers: object): Promise<void> {
      writeFileSync(file, JSON.stringify({ unlisted, publishers }))
      for (const { name } of storedServices) succeeded(await stack.orderflow(['restart', name]))
    }

    async function rejectedIds(topic: string, envelope: Envelope): Promise<Record<string, string>> {
      const key = randomUUID()
      await producer.send({ topic, key, value: JSON.stringify(envelope) })
      const receivers = storedServices.filter(({ consumes }) => topic in consumes)
      const deadLetters = () => log.records.filter((record) => record.key === key && record.topic === `${topic}.dead`)
      await eventually(() => deadLetters().length >= receivers.length, `the dead letters of ${key}`)
      await settled(stack, () => log.caughtUp())
      expect(deadLetters().map(({ headers }) => headers['deadletter-app'])).to.have.members(
        receivers.map(({ name }) => name),
      )
      for (const { headers } of deadLetters()) expect(headers['deadletter-reason']).to.equal('untrusted')
      return Object.fromEntries(
        deadLetters().map(({ headers }) => [headers['deadletter-app'], (headers['deadletter-id'] ?? '').slice(0, 8)]),
      )
    }
    const place = async (total = anOrder.total) =>
      (await post<Order>(`${orderUrl(stack)}/v1/orders`, { ...anOrder, total })).body.id
    const ours = (event: string) => {
      const { id: AppId, name: AppName } = publisherOf(event)
      return { AppId, AppName }
    }
    const approvalOf = (OrderId: string, app: object): Envelope => {
      const Payload = { OrderId, PaymentId: randomUUID(), Amount: 20_000, Policy: 'by-hand@1', Source: 'Manual' }
      return { ...full(), ...app, Name: 'PaymentApproved', Payload } as unknown as Envelope
    }
    const replay = (id = '', ...options: string[]) => stack.orderflow(['dead-letters', 'replay', id, ...options])

    it('causes dead letters until the trust file lists the application, and then their replay succeeds', async () => {
      const envelope = reduced()
      const { AppId, AppName, Payload } = envelope
      const { 'order-service': id } = await rejectedIds(orderEvents, envelope)
      expect(orderflowFailed(await replay(id))).to.contain(`untrusted: AppId ${AppId} is not listed in trust.json`)

      const topics = { [orderEvents]: ['OrderCreated'] }
      await trust('reject', { [AppId]: { name: AppName, topics, tenants: ['', 'north'] } })
      expect(succeeded(await replay(id))).to.contain('1 replayed')
      await orderWith(orderUrl(stack), Payload.OrderId, 'Paid')
    })

    it('publishes successfully only the events and tenants that the trust file lists for the application', async () => {
      const id = await place()
      await orderWith(orderUrl(stack), id, 'Paid')
      await rejectedIds(orderEvents, {
        ...reduced(),
        Name: 'OrderCancelled',
        Payload: { OrderId: id },
      } as unknown as Envelope)
      await rejectedIds(orderEvents, reduced({}, { AppName: 'another-application' }))
      await rejectedIds(orderEvents, reduced({}, { TenantID: 'south' }))
      await rejectedIds(orderEvents, reduced({}, { AppId: randomUUID() }))
      await orderWith(orderUrl(stack), id, 'Paid')
      const welcome = reduced({}, { TenantID: 'north' })
      await producer.send({ topic: orderEvents, value: JSON.stringify(welcome) })
      await orderWith(orderUrl(stack), welcome.Payload.OrderId, 'Paid')
    })

    it('causes dead letters if it publishes payments, which only payment-service may publish', async () => {
      const id = await place(20_000)
      await orderWith(orderUrl(stack), id, 'PaymentRejected')
      const fixture = 'envelope-schema/fixtures/valid/full-payment-approved.json'
      const published = orderflowFailed(await stack.orderflow(['publish', fixture]))
      expect(published).to.contain('is an event of paymentevents that outside applications may not publish')
      const { AppId, AppName } = reduced()
      const deadLetters = await rejectedIds(paymentEvents, approvalOf(id, { AppId, AppName }))
      const [deadLetter] = Object.values(deadLetters)
      expect(orderflowFailed(await replay(deadLetter))).to.contain('only payment-service publishes to paymentevents')
      await rejectedIds(paymentEvents, approvalOf(id, ours('OrderCreated')))
      await rejectedIds(paymentEvents, approvalOf(id, ours('PaymentApproved')))
      await orderWith(orderUrl(stack), id, 'PaymentRejected')
    })

    it('fails to cancel an order in the name of order-service, because the signature is missing; an operator’s edit is signed', async () => {
      const id = await place()
      await orderWith(orderUrl(stack), id, 'Paid')
      await log.caughtUp()
      const [own] = log.records.filter(({ topic, key }) => topic === orderEvents && key === id)
      expect(own?.headers.signature).to.match(/^[\w-]{43}$/)
      const cancelled = { ...full(), ...ours('OrderCancelled'), Name: 'OrderCancelled', Payload: { OrderId: id } }
      const { 'order-service': deadLetter } = await rejectedIds(orderEvents, cancelled as unknown as Envelope)
      expect(orderflowFailed(await replay(deadLetter))).to.contain(
        'order-service, but the signature is missing or wrong',
      )
      await orderWith(orderUrl(stack), id, 'Paid')

      const edited = join(dirname(stack.folder), 'edited.json')
      writeFileSync(edited, JSON.stringify(cancelled))
      expect(succeeded(await replay(deadLetter, '--file', edited))).to.contain('1 replayed')
      await orderWith(orderUrl(stack), id, 'Refunded')
    })

    it('changes nothing in a rebuild, because unsigned events are rejected if they arrived since the start of signing', async () => {
      /** Returns the number of records that payment-service rejects as untrusted. */
      async function untrusted(...options: string[]): Promise<number> {
        const rebuild = ['rebuild', 'payment-service', '--topic', paymentEvents, ...options]
        const printed = succeeded(await stack.orderflow(rebuild))
        expect(printed).to.match(/^paymentevents: \d+ read: 0 applied/m)
        return Number(/invalid, but not dead letters:.*\buntrusted (\d+)/.exec(printed)?.[1])
      }
      expect(await untrusted('--from', start)).to.equal(3)
      const since = await untrusted()
      remember({ Trust__SignedSince: undefined })
      expect(await untrusted()).to.be.greaterThan(since)
      remember(keys)
    })

    it('prevents the start of services if the trust file lists the application with an invalid AppId', async () => {
      writeFileSync(file, JSON.stringify({ unlisted: 'accept', publishers: { legacy: {} } }))
      const message = await stack.restart('payment-service').catch((error: Error) => error.message)
      expect(message).to.contain('/publishers/legacy: is not an AppId')
    })
  })
}
