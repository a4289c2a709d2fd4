import { expect } from 'chai'
import { serviceTroubles } from '../src/troubles.ts'

describe('serviceTroubles', () => {
  it('reports no problems of services that are ready', async () => {
    const ready = { name: 'order-service', ask: async () => ({ status: 'ready' }) }
    expect(await serviceTroubles([ready, { ...ready, name: 'payment-service' }])).to.deep.equal([])
  })

  it('reports missing parts of a running service, and the record that it cannot handle', async () => {
    const redelivered = [{ topic: 'orderevents', partition: 2, offset: '17', deliveries: 34 }]
    const answer = { status: 'not ready', missing: { stream: 'orderevents is no longer consumed' }, redelivered }
    expect(await serviceTroubles([{ name: 'payment-service-2', ask: async () => answer }])).to.deep.equal([
      'payment-service-2 is not ready: stream: orderevents is no longer consumed',
      'payment-service-2 cannot handle orderevents/2/17: delivered 34 times (make logs SERVICE=payment-service-2)',
    ])
  })

  it('reports the warnings of a service that is ready', async () => {
    const warnings = ['topic orderevents keeps events for 30 days, but has a deadline in 40 days']
    expect(
      await serviceTroubles([{ name: 'order-service', ask: async () => ({ status: 'ready', warnings }) }]),
    ).to.deep.equal([`order-service: ${warnings[0]}`])
  })

  it('reports a running service that does not answer', async () => {
    const hanging = { name: 'order-service', ask: () => Promise.reject(new Error('timeout')) }
    expect(await serviceTroubles([hanging])).to.deep.equal(['order-service does not answer'])
  })
})
