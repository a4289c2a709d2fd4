import { storedServices } from '@orderflow/stack'
import { testFolder } from '@orderflow/stack/base'
import { expect } from 'chai'
import type { Fault, Step } from './faults/schedule.ts'
import { formatReport } from './report/format.ts'
import type { Report } from './report/report.ts'
import { runChaos } from './run.ts'

const paymentWithinMs = 20_000

/** A few steps, as in `make -C tools chaos`, that kill each process once. */
const steps: Step[] = [
  {
    faults: [
      // The first replica is cut off, so the second one receives all partitions, and is then killed. Later the first replica joins the
      // group again.
      { kind: 'cut off', server: 'kafka', replicas: ['payment-service'], ms: 6_000 },
      { kind: 'kill', members: ['payment-service-2', 'payment-sidecar-2'], ms: 500 },
    ],
    apartMs: 4_500,
    restMs: 500,
  },
  {
    faults: [
      { kind: 'lock', store: 'order-service', ms: 4_000 },
      { kind: 'kill', members: ['order-sidecar'], ms: 1_000 },
    ],
    apartMs: 1_000,
    restMs: 500,
  },
  {
    faults: [
      { kind: 'kill', members: ['kafka'], ms: 500 },
      { kind: 'kill', members: ['order-service', 'order-service-2'], ms: 500 },
    ],
    apartMs: 0,
    restMs: 500,
  },
]
/** Orders expire while the processes that expire them are killed, or have a wrong clock. */
const expiryStep = (clocks: boolean): Step => {
  const jump = (member: string, seconds: number, ms: number): Fault[] =>
    clocks ? [{ kind: 'clock', members: [member], seconds, ms }] : []
  return {
    faults: [
      { kind: 'kill', members: ['payment-service', 'payment-service-2'], ms: 32_000 },
      ...jump('order-service', -300, 18_000),
      { kind: 'kill', members: ['order-service-2'], ms: 500 },
      ...jump('order-service-2', 420, 12_000),
    ],
    apartMs: 7_000,
    restMs: 500,
  }
}
/** A step that needs a user who may mount a disk. */
const diskStep: Step = { faults: [{ kind: 'full disk', disk: 'state', ms: 2_000 }], apartMs: 0, restMs: 500 }

describe('the system under load and faults', () => {
  let report: Report
  before(async function () {
    this.timeout(600_000)
    report = await runChaos({
      folder: testFolder('chaos'),
      seed: 'e2e',
      rate: 20,
      replicas: 2,
      store: 'sqlite',
      brokers: 1,
      minutes: Number.POSITIVE_INFINITY,
      paymentWithinMs,
      unpaidMs: paymentWithinMs + 12_000,
      steps: ({ disks, clocks }) => {
        steps.push(expiryStep(clocks))
        if (disks) steps.push(diskStep)
        return steps
      },
      onProgress: () => {},
    })
  })

  it('ends without lost, duplicated, stuck or wrong orders', function () {
    const { seconds, http, outside } = report.load
    const disks = steps.includes(diskStep) ? '' : ', without a full disk'
    const clocks = steps.some(({ faults }) => faults.some(({ kind }) => kind === 'clock'))
      ? ''
      : ', without jumps of clocks'
    if (this.test) this.test.title += ` (${http + outside} orders in ${seconds.toFixed(0)} s${disks}${clocks})`
    expect(report.findings, formatReport(report)).to.deep.equal([])
    expect(report.behind).to.equal(0)
  })

  it('rejects requests during faults, and recovers from each fault', () => {
    expect(report.load.answers).to.include.keys('order 201', 'order 503', 'order unanswered')
    expect(report.load.brokerFailures).to.be.above(0)
    const felt = report.faults.map(({ recovery }) => Object.values(recovery).every((ms) => ms > 0))
    expect(felt).to.deep.equal(steps.map(() => true))
  })

  it('lets unpaid orders expire during and after faults', () => {
    const { expired, calm } = report.expiries
    expect(calm).to.be.above(20)
    expect(expired - calm).to.be.above(20)
  })

  it('includes orders from both sources, refunds, dead letters and poison records', () => {
    const { orders, cancellations, events, deadLetters, poison } = report.counts
    for (const { source, stored, paid } of orders)
      expect([source, stored > 50, paid > 50]).to.deep.equal([source, true, true])
    expect(cancellations.refunded).to.be.above(0)
    expect(poison.inLog).to.be.above(0)
    expect(new Set(deadLetters.map(({ app }) => app)).size).to.equal(storedServices.length)
    expect(events.map(({ name }) => name)).to.include.members([
      'OrderCreated',
      'OrderCancelled',
      'OrderExpired',
      'OrderReminded',
      'OrderShipped',
      'PaymentApproved',
      'PaymentRejected',
      'PaymentRefunded',
    ])
  })
})
