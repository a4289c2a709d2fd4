import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type KafkaConnection, withAdmin } from '@orderflow/kafka-log'
import { clockTopic } from '@orderflow/service-kit/log'
import { expect } from 'chai'
import { repository } from '../../src/application/paths.ts'
import { eventually } from '../../src/base/run-tool.ts'
import { localKafka } from '../../src/kafka/connection.ts'
import { dayMs, forever, keepFor, keptFor } from '../../src/kafka/retention.ts'
import {
  addPartitions,
  ensureTopics,
  eventTopics,
  partitionCounts,
  type TopicSpec,
  topicDifferences,
  topics,
} from '../../src/kafka/topics.ts'
import { watchEvents } from '../../src/kafka/watch.ts'
import type { Plan } from '../../src/processes/plan.ts'
import { streamTroubles } from '../../src/troubles.ts'
import { send } from './send.ts'

export function localTopics(planned: () => Plan): void {
  describe('Kafka’s topics', () => {
    let kafka: KafkaConnection
    before(() => {
      kafka = localKafka(planned().ports.kafka)
    })

    it('match services.json, including partitions and limits', async () => {
      const names = topics.processes.map((topic) => topic.name)
      const found = await withAdmin(kafka, async (admin) => ({
        partitions: (await admin.metadata({ topics: names })).topics,
        configs: await admin.describeConfigs({
          resources: names.map((name) => ({ resourceType: 2, resourceName: name, configurationKeys: null })),
        }),
      }))
      for (const { name, partitions, configs } of topics.processes) {
        expect(found.partitions.get(name)?.partitionsCount).to.equal(partitions)
        const actual = found.configs.find((topic) => topic.resourceName === name)?.configs ?? []
        for (const [key, value] of Object.entries(configs)) {
          expect(actual.find((config) => config.name === key)?.value).to.equal(value)
        }
      }
    })

    it('stay unchanged by a second call of ensureTopics, which warns about a topic with another number of partitions', async () => {
      expect(await ensureTopics(kafka, topics.processes)).to.deep.equal([])
      const [first] = topics.processes
      if (!first) throw new Error('no topics')
      const { name, partitions } = first
      const warnings = [99, 1].map((others) => ensureTopics(kafka, [{ ...first, partitions: others }]))
      expect((await Promise.all(warnings)).flat()).to.deep.equal([
        `topic ${name} has ${partitions} partitions, services.json has 99: ./orderflow partitions adds them`,
        `topic ${name} has ${partitions} partitions, services.json has 1: Kafka cannot remove partitions, so write ${partitions} into "partitions"`,
      ])
    })

    it('cause a warning with the command to correct them if they differ from the required settings', async () => {
      const [spec] = topics.processes
      if (!spec) throw new Error('no topics')
      const name = 'settings'
      const different = {
        ...spec.configs,
        'message.timestamp.type': 'CreateTime',
        'max.message.bytes': '1000',
        'retention.ms': '1000',
      }
      await ensureTopics(kafka, [{ ...spec, name, configs: different }])
      const compared = [{ ...spec, name }]
      const command = './orderflow topic-setting settings'
      const lines = [
        `topic settings: max.message.bytes is 1000, should be 262144: larger events are refused. Fix: ${command} max.message.bytes=262144`,
        'topic settings: message.timestamp.type is CreateTime, should be LogAppendTime: publishers choose the times of records, which affects ' +
          `lag, FROM= and TO=; Trust__SignedSince ignores such records. Fix: ${command} message.timestamp.type=LogAppendTime`,
      ]
      expect(await topicDifferences(kafka, compared)).to.deep.equal(lines)
      expect(await ensureTopics(kafka, compared)).to.deep.equal(lines)
      expect(await streamTroubles(kafka, compared)).to.deep.equal(lines)
      expect(await topicDifferences(kafka, topics.processes)).to.deep.equal([])
    })

    it('cause warnings about wrong settings if a sidecar created the topics, and about missing topics', async () => {
      await withAdmin(kafka, (admin) => admin.createTopics({ topics: ['defaults'], partitions: 1, replicas: 1 }))
      const names = ['defaults', 'gone', 'gone.dead']
      const specs = names.map((name) => ({ ...(topics.processes[0] as TopicSpec), name }))
      const isThere = (lines: string[]) => lines.some((line) => line.startsWith('topic defaults: '))
      await eventually(async () => isThere(await topicDifferences(kafka, specs)), 'the topic')
      const [gone, goneDead, ...lines] = await topicDifferences(kafka, specs)
      expect(gone).to.match(/^topic gone does not exist: its events are neither published nor consumed\. Fix: make up/)
      expect(goneDead).to.match(
        /^topic gone\.dead does not exist: a partition of gone waits at its first invalid event/,
      )
      expect(await streamTroubles(kafka, specs)).to.include(goneDead)
      const settings = lines.map((line) => /^topic defaults: (\S+) is/.exec(line)?.[1])
      // The stack's brokers keep records for ever by default.
      expect(settings).to.deep.equal(['max.message.bytes', 'compression.type', 'message.timestamp.type'])
    })

    it('keep records for ever, or for some days in segments of one day', async () => {
      const names = eventTopics
      const segmentMs = async () => {
        const resources = names.map((name) => ({
          resourceType: 2 as const,
          resourceName: name,
          configurationKeys: ['segment.ms'],
        }))
        const found = await withAdmin(kafka, (admin) => admin.describeConfigs({ resources }))
        return [...new Set(found.map(({ configs }) => configs[0]?.value))]
      }
      const kept = async () => [...new Set((await keptFor(kafka, names)).values())]
      const before = await segmentMs()
      expect(await kept()).to.deep.equal([forever])
      await keepFor(kafka, names, 30 * dayMs)
      expect([await kept(), await segmentMs()]).to.deep.equal([[30 * dayMs], ['86400000']])
      await keepFor(kafka, names, forever)
      expect([await kept(), await segmentMs()]).to.deep.equal([[forever], before])
    })

    it('get the retention of `./orderflow retention`, unless a rebuild would lose a deadline', async () => {
      const env = { ...process.env, Stream__Brokers: kafka.bootstrapBrokers.join() }
      const retention = (...args: string[]) =>
        promisify(execFile)(process.execPath, ['packages/cli/src/cli.ts', 'retention', ...args], {
          cwd: repository,
          env,
        })
      const kept = async () => [...new Set((await keptFor(kafka, eventTopics)).values())]
      const openUntil = Date.now() + 39.5 * dayMs
      const value = Buffer.from(JSON.stringify({ openUntil }))
      await send(kafka, { topic: clockTopic, key: 'order-service', value })
      expect(await retention('--days', '39').catch(({ stderr }) => stderr)).to.equal(
        'error: order-service has a deadline in 40 days, and a rebuild would lose it\nnext: ./orderflow retention --days 40, or more\n',
      )
      expect(await kept()).to.deep.equal([forever])
      const { stdout } = await retention('--days', '40')
      expect(stdout)
        .to.match(/^orderevents: kept for 40 days\n/)
        .and.to.contain('next: rebuild stores')
      expect(await kept()).to.deep.equal([40 * dayMs])
      expect((await retention('--days', 'forever')).stdout).to.match(/^orderevents: kept for ever\n/)
      expect(await kept()).to.deep.equal([forever])
    })

    it('include all partitions if two commands create or extend them at the same time', async () => {
      const spec = { name: 'created-twice', partitions: 2, consumerGroups: [], configs: {} }
      const twice = <T>(work: () => Promise<T>) => Promise.all([work(), work()])
      expect(await twice(() => ensureTopics(kafka, [spec]))).to.deep.equal([[], []])
      for (let partitions = 3; partitions <= 20; partitions++)
        await twice(() => addPartitions(kafka, [{ ...spec, partitions }]))
      const counts = await withAdmin(kafka, (admin) => partitionCounts(admin, [spec.name]))
      expect(counts.get(spec.name)).to.equal(20)
    })

    it('include no new topic if a client misspells a name', async () => {
      const record = { topic: 'ordervents', key: undefined, value: Buffer.from('{}') }
      expect(await send(kafka, record).catch((error: unknown) => error)).to.be.instanceOf(Error)
      expect(await withAdmin(kafka, (admin) => admin.listTopics())).to.not.include('ordervents')
    })

    it('deliver to watchEvents every event that is published after watchEvents has started', async () => {
      const seen: string[] = []
      await send(kafka, { topic: 'orderevents', key: 'k', value: Buffer.from('{"Name":"Before"}') })
      const stop = await watchEvents(kafka, ['orderevents'], ({ envelope }) => seen.push(envelope.Name ?? '?'))
      for (const value of ['{"Name":"OrderCreated"}', 'not json', 'null']) {
        await send(kafka, { topic: 'orderevents', key: 'k', value: Buffer.from(value) })
      }
      try {
        await eventually(() => seen.length >= 3, 'all three were seen')
      } finally {
        await stop()
      }
      expect(seen).to.deep.equal(['OrderCreated', '?', '?'])
    })

    it('deliver to watchEvents some older events, too, for a request that created nothing new', async () => {
      for (const Name of ['First', 'Second', 'Third'])
        await send(kafka, { topic: 'paymentevents', key: 'k', value: Buffer.from(JSON.stringify({ Name })) })
      const seen: string[] = []
      const stop = await watchEvents(kafka, ['paymentevents'], ({ envelope }) => seen.push(envelope.Name ?? '?'), 2n)
      await eventually(() => seen.length >= 2, 'both were seen').finally(stop)
      expect(seen).to.deep.equal(['Second', 'Third'])
    })

    it('cause no warning about more partitions of a topic for dead letters', async () => {
      const name = 'many.dead'
      const [spec] = topics.processes.filter((each) => each.name.endsWith('.dead'))
      await withAdmin(kafka, (admin) => admin.createTopics({ topics: [name], partitions: 4, replicas: 1 }))
      const warnings = await ensureTopics(kafka, [{ ...(spec as TopicSpec), name }])
      expect(warnings.filter((warning) => warning.includes('partitions'))).to.deep.equal([])
    })

    it('get the setting of `./orderflow topic-setting`, which a warning names', async () => {
      const env = { ...process.env, Stream__Brokers: kafka.bootstrapBrokers.join() }
      const topicSetting = (...args: string[]) =>
        promisify(execFile)(process.execPath, ['packages/cli/src/cli.ts', 'topic-setting', ...args], {
          cwd: repository,
          env,
        })
      await topicSetting('orderevents', 'max.message.bytes=262145')
      const fix = /Fix: \.\/orderflow topic-setting (\S+) (\S+)$/.exec(
        (await topicDifferences(kafka, topics.processes))[0] ?? '',
      )
      await topicSetting(fix?.[1] ?? '', fix?.[2] ?? '')
      expect(await topicDifferences(kafka, topics.processes)).to.deep.equal([])
      for (const wrong of [['other', 'a=b'], ['orderevents', 'a'], []])
        expect(await topicSetting(...wrong).catch(({ stderr }) => stderr)).to.match(/^error: the topic is unknown/)
    })
  })
}
