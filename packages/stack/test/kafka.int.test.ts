import { freePorts } from '../src/application/free-ports.ts'
import { testFolder } from '../src/application/paths.ts'
import { createPlan, type Plan } from '../src/processes/plan.ts'
import { runningStack } from '../src/processes/running-stack.ts'
import { claimFolder } from '../src/processes/test-owner.ts'
import { provision } from '../src/provision/provision.ts'
import { appendTimesOf } from './kafka/append-times.ts'
import { startBroker } from './kafka/broker.ts'
import { envelopeCommand } from './kafka/envelope-command.ts'
import { killedBroker } from './kafka/killed-broker.ts'
import { positions } from './kafka/positions.ts'
import { sidecar } from './kafka/sidecar.ts'
import { streamCheck } from './kafka/stream-check.ts'
import { timeRanges } from './kafka/time-ranges.ts'
import { localTopics } from './kafka/topics.ts'
import { transactions } from './kafka/transactions.ts'

/** Runs all tests that need a broker and no service, with one broker. */
describe('Kafka on this machine', () => {
  let plan: Plan

  before(async function () {
    // The first build of the programs takes minutes.
    this.timeout(0)
    await provision({ onProgress: () => {} })
    await claimFolder(testFolder('kafka'))
    plan = await createPlan(testFolder('kafka'), await freePorts())
    await startBroker(plan)
  })
  after(() => runningStack(plan, false).stop())

  localTopics(() => plan)
  sidecar(() => plan)
  streamCheck(() => plan)
  positions(() => plan)
  appendTimesOf(() => plan)
  timeRanges(() => plan)
  envelopeCommand(() => plan)
  killedBroker(() => plan)
  // These tests come last, because they leave a broker without an authorizer.
  transactions(() => plan)
})
