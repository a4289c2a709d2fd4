import { randomUUID } from 'node:crypto'
import { appendTimes, openLog, requestOf, withAdmin } from '@orderflow/kafka-log'
import { clockTopic, retentionOf } from '@orderflow/service-kit/log'
import { scrape } from '@orderflow/service-kit/testing'
import type { KafkaConnection } from '@orderflow/stack'
import { withRetries } from '@orderflow/stack/base'
import { stackUsers, streamMetrics, topicDifferences } from '@orderflow/stack/internals'
import { setPublisher, topics } from '@orderflow/stack/operate'
import {
  AclOperations,
  AclPermissionTypes,
  type Admin,
  ConfigResourceTypes,
  Consumer,
  IncrementalAlterConfigOperationTypes,
  ResourcePatternTypes,
  ResourceTypes,
} from '@platformatic/kafka'
import { expect } from 'chai'
import { aclOf, write } from '../../support/kafka/kafka-rights.ts'
import { publishInTransaction } from '../../support/kafka/kafka-transaction.ts'
import { refusalOf } from '../../support/kafka/refusal.ts'
import type { SecuredKafka } from '../../support/kafka/secured-kafka.ts'

/** The rights of each user. This list repeats services.json, so that a change of rights requires a change of this test. */
const mayDo: Record<
  string,
  Record<'describe' | 'read' | 'write' | 'group', string[]> & Partial<Record<'lookInto' | 'settings', string[]>>
> = {
  'order-service': {
    describe: ['orderevents', 'paymentevents', 'orderevents.dead', 'paymentevents.dead'],
    read: ['orderevents', 'paymentevents', 'orderevents.dead', 'paymentevents.dead'],
    write: ['orderevents', 'orderevents.dead', 'paymentevents.dead'],
    group: ['order-service'],
    settings: ['orderevents', 'paymentevents'],
  },
  'payment-service': {
    describe: ['orderevents', 'paymentevents', 'orderevents.dead', 'paymentevents.dead'],
    read: ['orderevents', 'paymentevents', 'orderevents.dead', 'paymentevents.dead'],
    write: ['paymentevents', 'orderevents.dead'],
    group: ['payment-service'],
  },
  'event-gateway': { describe: ['orderevents'], read: [], write: ['orderevents'], group: [] },
  publisher: { describe: ['orderevents'], read: [], write: ['orderevents'], group: [] },
  legacy: { describe: ['orderevents'], read: [], write: ['orderevents'], group: [] },
  exporter: {
    describe: ['orderevents', 'paymentevents', 'orderevents.dead', 'paymentevents.dead'],
    read: ['orderevents', 'paymentevents'],
    write: [],
    group: [],
    lookInto: ['order-service', 'payment-service'],
  },
  stranger: { describe: [], read: [], write: [], group: [] },
  operator: {
    describe: ['orderevents', 'paymentevents', 'orderevents.dead', 'paymentevents.dead', 'others'],
    read: ['orderevents', 'paymentevents', 'orderevents.dead', 'paymentevents.dead', 'others'],
    write: ['orderevents', 'paymentevents', 'orderevents.dead', 'paymentevents.dead', 'others'],
    group: ['order-service', 'payment-service', 'a-new-group'],
  },
}

const everyTopic = mayDo.operator?.describe ?? []
const everyGroup = mayDo.operator?.group ?? []

const administration: Record<string, (admin: Admin) => Promise<unknown>> = {
  'make a topic': (admin) => admin.createTopics({ topics: [`a-topic-${randomUUID()}`], partitions: 1, replicas: 1 }),
  'delete a topic': (admin) => admin.deleteTopics({ topics: ['orderevents'] }),
  'add partitions': (admin) => admin.createPartitions({ topics: [{ name: 'orderevents', count: 99 }] }),
  'delete records': (admin) =>
    admin.deleteRecords({ topics: [{ name: 'orderevents', partitions: [{ partition: 0, offset: 0n }] }] }),
  'change how long a topic keeps its records': (admin) =>
    alterConfig(admin, ConfigResourceTypes.TOPIC, 'orderevents', 'retention.ms'),
  'change a setting of the broker': (admin) => alterConfig(admin, ConfigResourceTypes.BROKER, '1', 'log.retention.ms'),
  'give itself a right': (admin) => admin.createAcls({ creations: [everything] }),
  'read the rights': (admin) => admin.describeAcls({ filter: everything }),
  'take a right away': (admin) => admin.deleteAcls({ filters: [everything] }),
  'list the users': (admin) => requestOf(admin, 'DescribeUserScramCredentials', []),
  'give the operator another password': (admin) =>
    requestOf(
      admin,
      'AlterUserScramCredentials',
      [],
      [{ name: 'operator', mechanism: 2, iterations: 4096, salt: Buffer.alloc(32), saltedPassword: Buffer.alloc(64) }],
    ),
  'remove a consumer group': (admin) => admin.deleteGroups({ groups: ['payment-service'] }),
}

const event = { topic: 'orderevents', value: Buffer.from('{}') }

const everything = aclOf('legacy', 'paymentevents', AclOperations.ALL)

const alterConfig = (admin: Admin, resourceType: 2 | 4, resourceName: string, name: string) =>
  admin.incrementalAlterConfigs({
    resources: [
      {
        resourceType,
        resourceName,
        configs: [{ name, configOperation: IncrementalAlterConfigOperationTypes.SET, value: '1' }],
      },
    ],
  })

export function streamRights(running: () => SecuredKafka): void {
  describe('the rights in Kafka', () => {
    let kafka: SecuredKafka
    before(async () => {
      kafka = running()
      await setPublisher(kafka.operator, 'legacy', 'of legacy')
      await setPublisher(kafka.operator, 'stranger', 'of stranger')
      await takeRights(kafka.operator, 'stranger')
      const others = { topics: ['others'], partitions: 1, replicas: 1 }
      await withAdmin(kafka.operator, (admin) => admin.createTopics(others))
      // A read can succeed only if the topic has a record.
      for (const topic of everyTopic) await write(kafka.operator, topic)
      // For the first group, the broker creates its topic for groups. This takes a moment.
      for (const group of everyGroup) await withRetries('groups', () => join(kafka.operator, group), 50)
    })

    const as = (user: string) => kafka.as(user, stackUsers.includes(user) ? undefined : `of ${user}`)

    /** Returns the allowed names. All other names must fail with an authorization error. */
    async function allowed(names: string[], attempt: (name: string) => Promise<unknown>): Promise<string[]> {
      const found: string[] = []
      for (const name of names) {
        const refusal = await refusalOf(attempt(name))
        if (refusal === undefined) found.push(name)
        else expect(refusal, name).to.match(/_AUTHORIZATION_FAILED$/)
      }
      return found
    }

    it('gives the exporter enough rights to report lag and age', async () => {
      const samples = await scrape(streamMetrics(as('exporter')))
      expect(samples.get('orderflow_kafka_up')).to.equal(1)
      const labels = 'group="payment-service",topic="orderevents"'
      const lags = [...samples].filter(([series]) => series.startsWith(`orderflow_consumer_lag_events{${labels}`))
      expect(lags.reduce((sum, [, lag]) => sum + lag, 0)).to.be.at.least(1)
      expect(samples.get(`orderflow_oldest_unhandled_seconds{${labels}}`)).to.be.within(0.001, 600)
      expect(samples.get('orderflow_dead_letter_records{topic="orderevents.dead"}')).to.be.at.least(1)
      expect((await scrape(streamMetrics(as('stranger')))).get('orderflow_kafka_up')).to.equal(0)
    })

    it('lets the monitor read the settings of topics, and denies this to services', async () => {
      // Readiness of the services reports a wrong clock.
      const watched = topics.processes.filter(({ name }) => name !== clockTopic)
      expect(await topicDifferences(as('event-monitor'), watched)).to.deep.equal([])
      for (const service of ['order-service', 'payment-service'])
        expect(await topicDifferences(as(service), topics.processes)).to.deep.equal([
          'Kafka does not let this user read the settings of topics, so they are not compared. ./orderflow acls prints the right (DescribeConfigs)',
        ])
    })

    it('lets a service with deadlines read the retention of its topics', async () => {
      const own = ['orderevents', 'paymentevents']
      const retention = await withAdmin(as('order-service'), (admin) => retentionOf(admin, own))
      expect([...retention]).to.deep.equal(own.map((topic) => [topic, -1]))
    })

    it('lets a service read the append times of records', async () => {
      const partitions = Array.from({ length: 3 }, (_, partition) => ({ topic: 'orderevents', partition, offset: '0' }))
      const times = await withAdmin(as('order-service'), (admin) => appendTimes(admin, partitions))
      expect(times.size).to.be.at.least(1)
    })

    for (const [user, may] of Object.entries(mayDo)) {
      describe(user, () => {
        it(`lets the user see only ${told(may.describe)}`, async () => {
          const describe = (topic: string) => withAdmin(as(user), (admin) => admin.metadata({ topics: [topic] }))
          expect(await allowed(everyTopic, describe)).to.have.members(may.describe)
          expect(await withAdmin(as(user), (admin) => admin.listTopics())).to.include.members(may.describe)
        })

        it(`lets the user read only ${told(may.read)}`, async () => {
          expect(await allowed(everyTopic, (topic) => read(as(user), topic))).to.have.members(may.read)
        })

        it(`lets the user write only ${told(may.write)}`, async () => {
          expect(await allowed(everyTopic, (topic) => write(as(user), topic))).to.have.members(may.write)
        })

        it(`lets the user write with an idempotent producer (the default in Java) only ${told(may.write)}`, async () => {
          const attempt = (topic: string) => write(as(user), topic, { idempotent: true })
          expect(await allowed(everyTopic, attempt)).to.have.members(may.write)
        })

        it(`lets the user join only ${told(may.group, 'group')}`, async () => {
          // The user joins without topics, because an invisible topic would also cause a refusal.
          const attempt = (group: string) => join(as(user), group)
          expect(await allowed(everyGroup, attempt)).to.have.members(may.group)
        })

        const { lookInto = may.group, settings = [] } = may
        if (user !== 'operator')
          it(`lets the user read the settings of ${told(settings)}`, async () => {
            const attempt = (topic: string) => withAdmin(as(user), (admin) => retentionOf(admin, [topic]))
            expect(await allowed(everyTopic, attempt)).to.have.members(settings)
          })

        it(`lets the user describe only ${told(lookInto, 'group')}`, async () => {
          const attempt = (group: string) => withAdmin(as(user), (admin) => admin.describeGroups({ groups: [group] }))
          expect(await allowed(everyGroup, attempt)).to.have.members(lookInto)
        })

        if (user === 'operator') return
        it('denies the user transactions', async () => {
          expect(await refusalOf(publishInTransaction(as(user), event, 'abort'))).to.equal(
            'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
          )
        })

        for (const [what, attempt] of Object.entries(administration)) {
          it(`does not allow the user to ${what}`, async () => {
            expect(await refusalOf(withAdmin(as(user), attempt))).to.match(/_AUTHORIZATION_FAILED$/)
          })
        }
      })
    }
  })
}

const told = (names: string[], what = 'topic') => (names.length > 0 ? names.join(', ') : `no ${what}`)

async function read(kafka: KafkaConnection, topic: string): Promise<void> {
  const log = openLog(kafka)
  try {
    const seen: unknown[] = []
    for await (const records of log.read(topic, await log.spans(topic))) seen.push(...records)
    expect(seen).to.have.length.above(0)
  } finally {
    await log.close()
  }
}

async function join(kafka: KafkaConnection, groupId: string): Promise<void> {
  const consumer = new Consumer({ clientId: 'rights', groupId, ...kafka, retries: 0 })
  try {
    await consumer.joinGroup()
  } finally {
    await consumer.close(true)
  }
}

async function takeRights(kafka: KafkaConnection, user: string): Promise<void> {
  const filter = {
    resourceType: ResourceTypes.ANY,
    resourceName: null,
    resourcePatternType: ResourcePatternTypes.ANY,
    principal: `User:${user}`,
    host: null,
    operation: AclOperations.ANY,
    permissionType: AclPermissionTypes.ANY,
  }
  await withAdmin(kafka, (admin) => admin.deleteAcls({ filters: [filter] }))
}
