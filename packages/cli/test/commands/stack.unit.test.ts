import { expect } from 'chai'
import { nextCommand, troublesOf } from '../../src/commands/stack.ts'
import { application } from '../../src/lib/services.ts'

describe('make up', () => {
  it('names the demo as the next step only if services.json declares one', () => {
    expect([nextCommand(application), nextCommand({ demo: undefined })]).to.deep.equal(['make demo', 'make status'])
  })
})

describe('make status', () => {
  it('reports no problems of services that are ready', async () => {
    const ready = { name: 'order-service', ask: async () => ({ status: 'ready' }) }
    expect(await troublesOf([ready, { ...ready, name: 'payment-service' }])).to.deep.equal([])
  })

  it('reports missing parts of a running service, and the record that it cannot handle', async () => {
    const redelivered = [{ topic: 'orderevents', partition: 2, offset: '17', deliveries: 34 }]
    const answer = { status: 'not ready', missing: { stream: 'orderevents is no longer consumed' }, redelivered }
    expect(await troublesOf([{ name: 'payment-service-2', ask: async () => answer }])).to.deep.equal([
      'payment-service-2 is not ready: stream: orderevents is no longer consumed',
      'payment-service-2 cannot handle orderevents/2/17: delivered 34 times (make logs SERVICE=payment-service-2)',
    ])
  })

  it('reports a running service that does not answer', async () => {
    const hanging = { name: 'order-service', ask: () => Promise.reject(new Error('timeout')) }
    expect(await troublesOf([hanging])).to.deep.equal(['order-service does not answer'])
  })
})
