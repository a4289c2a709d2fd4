import { storedServices, testFolder } from '@orderflow/cli'
import { expect } from 'chai'
import type { Step } from './faults/schedule.ts'
import { formatReport } from './report/format.ts'
import type { Report } from './report/report.ts'
import { runChaos } from './run.ts'

/** A small part of what `make -C tools chaos` does, one after the other; each process of the system is killed in one of them. */
const steps: Step[] = [
  {
    faults: [
      // Its partitions go to the other replica, which dies while it has them; the old one goes on with what it got, and then comes back.
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
/** Where this user may mount a disk that can be full. */
const diskStep: Step = { faults: [{ kind: 'full disk', disk: 'state', ms: 2_000 }], apartMs: 0, restMs: 500 }

describe('under load, while processes are killed, cut off from Kafka and locked out of their database', () => {
  let report: Report
  before(async function () {
    this.timeout(400_000)
    report = await runChaos({
      folder: testFolder('chaos'),
      seed: 'e2e',
      rate: 20,
      replicas: 2,
      store: 'sqlite',
      minutes: Number.POSITIVE_INFINITY,
      steps: (disks) => {
        if (disks) steps.push(diskStep)
        return steps
      },
      onProgress: () => {},
    })
  })

  it('nothing is lost, duplicated, stuck or wrong', function () {
    const { seconds, http, outside } = report.load
    const disks = steps.includes(diskStep) ? '' : ', without a full disk'
    if (this.test) this.test.title += ` (${http + outside} orders in ${seconds.toFixed(0)} s${disks})`
    expect(report.findings, formatReport(report)).to.deep.equal([])
    expect(report.behind).to.equal(0)
  })

  it('the faults were felt, and each of them was survived', () => {
    expect(report.load.answers).to.include.keys('order 201', 'order 503', 'order unanswered')
    expect(report.load.brokerFailures).to.be.above(0)
    const felt = report.faults.map(({ recovery }) => Object.values(recovery).every((ms) => ms > 0))
    expect(felt).to.deep.equal(steps.map(() => true))
  })

  it('there was something to count of every kind', () => {
    const { orders, cancellations, events, deadLetters, poison } = report.counts
    for (const { source, stored, paid } of orders)
      expect([source, stored > 50, paid > 50]).to.deep.equal([source, true, true])
    expect(cancellations.refunded).to.be.above(0)
    expect(poison.inLog).to.be.above(0)
    expect(new Set(deadLetters.map(({ app }) => app)).size).to.equal(storedServices.length)
    expect(events.map(({ name }) => name)).to.include.members([
      'OrderCreated',
      'OrderCancelled',
      'OrderShipped',
      'PaymentApproved',
      'PaymentRejected',
      'PaymentRefunded',
    ])
  })
})
