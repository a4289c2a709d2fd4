import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { StreamSettings } from '@orderflow/service-kit/kafka'
import { createStreamCheck, type StreamCheck } from '@orderflow/service-kit/stream-check'
import { eventually, freePorts, testFolder } from '@orderflow/stack'
import {
  claimFolder,
  createPlan,
  dataFolder,
  ensureRunning,
  kafkaMissing,
  localKafka,
  type Plan,
  processSpecs,
  provision,
  runningStack,
  startProcess,
} from '@orderflow/stack/parts'
import {
  AclOperations,
  AclPermissionTypes,
  Admin,
  Consumer,
  ResourcePatternTypes,
  ResourceTypes,
} from '@platformatic/kafka'
import { expect } from 'chai'

describe('what keeps a service from a real stream', function () {
  this.timeout(120_000)
  const group = 'a-service'
  let plan: Plan
  let Brokers: string
  let check: StreamCheck
  const startKafka = () => ensureRunning(plan, ['kafka'], { onProgress: () => {} })

  before(async () => {
    await provision({ onProgress: () => {} })
    await claimFolder(testFolder('stream-check'))
    plan = await createPlan(testFolder('stream-check'), await freePorts())
    Brokers = `127.0.0.1:${plan.ports.kafka}`
    await startKafka()
  })
  after(() => runningStack(plan, false).stop())
  beforeEach(() => {
    check = createStreamCheck({ Brokers, AuthType: 'none' } as StreamSettings, group)
  })

  async function consume(): Promise<Consumer> {
    const consumer = new Consumer({ groupId: group, clientId: 'test', bootstrapBrokers: [Brokers] })
    const stream = await consumer.consume({ topics: ['orderevents'] })
    stream.on('data', () => {})
    return consumer
  }

  it('is that nobody consumes, until somebody does', async () => {
    expect(await check()).to.match(/has no members/)
    const consumer = await consume()
    await delay(600)
    expect(await check()).to.equal(undefined)
    await consumer.close(true)
    await delay(2_100)
    expect(await check()).to.match(/has no members/)
  })

  it('is only the broker for a service that consumes nothing', async () => {
    const brokerOnly = createStreamCheck({ Brokers, AuthType: 'none' } as StreamSettings, undefined)
    expect(await brokerOnly()).to.equal(undefined)
  })

  it('is a broker that hangs, and nothing as soon as it goes on', async () => {
    const consumer = await consume()
    await runningStack(plan, false).kill('kafka', 'SIGSTOP')
    const begun = performance.now()
    expect(await check()).to.equal('the broker does not answer in time')
    expect(performance.now() - begun).to.be.below(3_000)
    await runningStack(plan, false).kill('kafka', 'SIGCONT')
    await eventually(async () => (await check()) === undefined || undefined, 'the broker to be back')
    await consumer.close(true)
  })

  it('is a broker that was killed, and is back by itself', async () => {
    await runningStack(plan, false).kill('kafka')
    expect(await check()).to.equal('the broker does not answer')
    await startKafka()
    const consumer = await consume()
    await eventually(async () => (await check()) === undefined || undefined, 'the group to be back')
    await consumer.close(true)
  })

  it('is a group that is denied, in words, although the broker answers', async () => {
    await runningStack(plan, false).kill('kafka')
    const authorizer = [
      'authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'allow.everyone.if.no.acl.found=true',
    ]
    appendFileSync(join(dataFolder(plan.folder), 'kafka.properties'), `${authorizer.join('\n')}\n`)
    const { kafka } = processSpecs(plan)
    if (!kafka) throw new Error('there is no kafka')
    startProcess(plan.folder, kafka)
    await eventually(async () => (await kafkaMissing(localKafka(plan.ports.kafka))) === undefined || undefined, 'Kafka')
    const admin = new Admin({ clientId: 'test', bootstrapBrokers: [Brokers] })
    await admin.createAcls({
      creations: [
        {
          resourceType: ResourceTypes.GROUP,
          resourceName: group,
          resourcePatternType: ResourcePatternTypes.LITERAL,
          principal: 'User:ANONYMOUS',
          host: '*',
          operation: AclOperations.ALL,
          permissionType: AclPermissionTypes.DENY,
        },
      ],
    })
    await admin.close()
    await eventually(
      async () => (await check()) === 'consumer group a-service is denied to this user' || undefined,
      'the group to be denied',
    )
  })
})
