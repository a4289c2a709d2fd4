import { expect } from 'chai'
import type { EventRow } from '../../src/api/events.ts'
import type { GroupLag, ServiceHealth } from '../../src/api/system.ts'
import { likelyReason } from '../../src/routes/system.ts'

describe('likelyReason', () => {
  const row = { position: { topic: 'orderevents', partition: 1, offset: '7' } } as EventRow
  const ready: ServiceHealth = {
    name: 'payment-service',
    url: 'http://127.0.0.1:5003',
    state: 'ready',
    reason: null,
    sidecar: 'up',
    warnings: [],
    redelivered: [],
  }
  const group = (position: string, end: string, isAtMost = false): GroupLag => {
    const lag = Number(end) - Number(position)
    return { group: 'payment-service', topic: 'orderevents', partition: 1, position, end, lag, isAtMost }
  }
  const likely = (over: Partial<Parameters<typeof likelyReason>[2]>) =>
    likelyReason(row, 'payment-service', {
      ...{ services: [ready], groups: [group('8', '8')], indexLag: 0, deadLetterOf: () => undefined },
      ...over,
    })

  it('names the dead letter of the event, if there is one', () => {
    expect(likely({ deadLetterOf: () => 'id', services: [] })).to.include({ why: 'dead-letter', entry: 'id' })
  })

  it('names a service that is unreachable or not ready', () => {
    const of = (over: Partial<ServiceHealth>) =>
      likely({ services: [{ ...ready, ...over }], groups: [group('0', '9')] })
    expect(of({ state: 'unreachable' })).to.include({ why: 'service-down', text: 'payment-service cannot be reached' })
    expect(of({ state: 'not-ready', reason: 'sidecar: down' }).text).to.equal(
      'payment-service is not ready (sidecar: down)',
    )
  })

  it('names the lag of the service, without a number if the lag was measured before the event arrived', () => {
    expect(likely({ groups: [group('7', '9')] })).to.include({
      why: 'lag',
      text: 'payment-service has not read it yet: it is 2 events behind in orderevents/1',
    })
    expect(likely({ groups: [group('7', '9', true)] }).text).to.contain('it is at most 2 events behind')
    expect(likely({ groups: [group('7', '7')] }).text).to.equal('payment-service has not read it yet')
  })

  it('names the lag of the monitor’s index, or else reports that the reason is unknown', () => {
    expect(likely({ indexLag: null }).why).to.equal('index-behind')
    expect(likely({ indexLag: 1_001 }).text).to.contain('is 1001 events behind')
    expect(likely({ indexLag: 1_000 }).why).to.equal('unknown')
  })
})
