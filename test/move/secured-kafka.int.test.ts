import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createEnvelope, orderEvents, parseEnvelope } from '@orderflow/envelope-schema'
import { requireTopics } from '@orderflow/move/kafka'
import { sideOf } from '@orderflow/move/settings'
import { headerOf, type LogRecord } from '@orderflow/service-kit/log'
import { openLog } from '@orderflow/service-kit/operations'
import { settingsOf } from '@orderflow/service-kit/topic-settings'
import { createSigner, signatureHeader } from '@orderflow/service-kit/trust'
import type { KafkaConnection } from '@orderflow/stack'
import { repository, withRetries } from '@orderflow/stack/base'
import { bodyOf, freePort, streamSettings } from '@orderflow/stack/internals'
import { setPublisher, withAdmin } from '@orderflow/stack/operate'
import { AclOperations, Producer } from '@platformatic/kafka'
import { expect } from 'chai'
import { aclOf } from '../support/kafka-rights.ts'
import { type SecuredKafka, startSecuredKafka } from '../support/secured-kafka.ts'

const [group, partition] = ['payment-service', 1]

/** The settings that differ from those of a valid move. */
type Changes = Partial<Record<'from' | 'to', Record<string, string>>>

describe('make move-log between two Kafkas that require authentication', () => {
  const parent = mkdtempSync(join(tmpdir(), 'orderflow-move-'))
  const [from, to] = [join(parent, 'old'), join(parent, 'acme')]
  let [old, own]: (SecuredKafka | undefined)[] = []
  let [oldSettings, ownSettings]: Record<string, string>[] = []

  before(async () => {
    for (const file of ['stack/node', '../acme/orderflow', '../acme/event-gateway/package.json']) {
      mkdirSync(dirname(join(from, file)), { recursive: true })
      writeFileSync(join(from, file), '')
    }
    for (const folder of [from, to]) cpSync(join(repository, 'services.json'), join(folder, 'services.json'))
    cpSync(join(repository, 'components/trust'), join(to, 'components/trust'), { recursive: true })
    old = await startSecuredKafka('move-old')
    own = await startSecuredKafka('move-own')
    oldSettings = { ...streamSettings(old.operator), Trust__SigningKeys: 'old-key' }
    ownSettings = { ...streamSettings(own.operator), Trust__SigningKeys: 'new-key' }
    await publish(old.operator)
    await setPublisher(old.operator, 'stranger', 'a-password')
    const rights = aclOf('stranger', orderEvents, AclOperations.WRITE)
    await withAdmin(old.operator, (admin) => admin.deleteAcls({ filters: [rights] }))
  })
  after(async () => {
    await old?.stop()
    await own?.stop()
    rmSync(parent, { recursive: true, force: true })
  })

  /**
   * Writes two signed events and an event with a wrong signature, after an event that the log has deleted. The consumer group has handled one of the
   * three events.
   */
  async function publish(kafka: KafkaConnection): Promise<void> {
    const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'test', ...kafka })
    const app = { id: '6f1d2c1e-6b5a-4d0e-9c57-0d9a3c1b5e01', name: 'order-service' }
    const messages = ['old-key', 'old-key', 'old-key', 'stolen'].map((key, index) => {
      const payload = { OrderId: crypto.randomUUID(), CustomerName: 'Ada', CustomerTaxId: 'GB-1', Total: index }
      const event = createEnvelope({ app, type: 'OrderCreated', creationDate: new Date(), payload })
      const value = Buffer.from(JSON.stringify(event))
      const signature = Buffer.from(createSigner([key]).sign(value) ?? '')
      return { topic: orderEvents, partition, value, headers: new Map([[Buffer.from(signatureHeader), signature]]) }
    })
    await producer.send({ messages, acks: -1 })
    await producer.close()
    await withAdmin(kafka, (admin) =>
      admin.deleteRecords({ topics: [{ name: orderEvents, partitions: [{ partition, offset: 1n }] }] }),
    )
    await commit(kafka, 2n)
  }

  async function commit(kafka: KafkaConnection, offset: bigint): Promise<void> {
    const topics = [{ name: orderEvents, partitionOffsets: [{ partition, offset }] }]
    // A new cluster first creates the topic of its groups.
    await withRetries('Kafka', () =>
      withAdmin(kafka, (admin) => admin.alterConsumerGroupOffsets({ groupId: group, topics })),
    )
  }

  async function committed(kafka: KafkaConnection): Promise<bigint | undefined> {
    const [found] = await withAdmin(kafka, (admin) => admin.listConsumerGroupOffsets({ groups: [group] }))
    const partitions = found?.topics.flatMap((topic) => topic.partitions)
    return partitions?.find(({ partitionIndex }) => partitionIndex === partition)?.committedOffset
  }

  function settingsFile(name: string, settings: Record<string, string>): string {
    const file = join(parent, name)
    const lines = Object.entries(settings).map(([variable, value]) => `${variable}="${value}"\n`)
    writeFileSync(file, lines.join(''))
    return file
  }

  async function moveLog(settings: Changes = {}) {
    const files = [
      `FROM_SETTINGS=${settingsFile('old.env', { ...oldSettings, ...settings.from })}`,
      `TO_SETTINGS=${settingsFile('new.env', { ...ownSettings, ...settings.to })}`,
    ]
    const args = ['--no-print-directory', '-s', '-C', 'tools', 'move-log', `FROM=${from}`, `TO=${to}`, ...files]
    return await promisify(execFile)('make', args, { cwd: repository })
  }

  async function recordsIn(kafka: KafkaConnection): Promise<LogRecord[]> {
    const log = openLog(kafka)
    try {
      const records: LogRecord[] = []
      for await (const batch of log.read(orderEvents, await log.spans(orderEvents))) records.push(...batch)
      return records
    } finally {
      await log.close()
    }
  }

  const failures: Record<string, [settings: () => Changes, error: RegExp]> = {
    'a wrong password': [
      () => ({ from: { Stream__SaslPassword: 'guessed' } }),
      /^error: Kafka at 127.0.0.1:\d+ refuses user operator: SASL_AUTHENTICATION_FAILED\nnext: correct the user, the password and the mechanism in \/.*\/old\.env\n/,
    ],
    'a mechanism that the broker lacks': [
      () => ({ to: { Stream__SaslMechanism: 'PLAINTEXT' } }),
      /^error: Kafka at 127.0.0.1:\d+ refuses user operator: UNSUPPORTED_SASL_MECHANISM\nnext: .*\/new\.env\n/,
    ],
    'an unknown certificate': [
      () => ({ to: { Stream__CaCert: '' } }),
      /^error: Kafka at 127.0.0.1:\d+ is not reachable: self-signed certificate.*\nnext: start this Kafka, or correct its address and certificate in \/.*\/new\.env\n/,
    ],
    'no TLS': [
      () => ({ to: { Stream__DisableTls: 'true' } }),
      /^error: Kafka at 127.0.0.1:\d+ is not reachable: Connection closed\nnext: .*\/new\.env\n/,
    ],
    'no authentication': [
      () => ({ from: { Stream__AuthType: 'none' } }),
      /^error: Kafka at 127.0.0.1:\d+ is not reachable: Broker requires TLS\.\nnext: .*\/old\.env\n/,
    ],
    'the same Kafka for both logs': [
      () => ({ to: oldSettings ?? {} }),
      /^error: both logs have the same Kafka: .*\nnext: correct the address in \/.*\/old\.env or \/.*\/new\.env\n/,
    ],
    'a user without rights to the old log': [
      () => ({ from: { Stream__SaslUsername: 'stranger', Stream__SaslPassword: 'a-password' } }),
      /^error: 127.0.0.1:\d+ shows no topic of orderevents, .*\nnext: correct the address in \/.*\/old\.env, or give its user/,
    ],
    'a user who may not read the groups of the old log': [
      () => ({ from: userSettings(old as SecuredKafka, 'order-service') }),
      /^error: Kafka denies a request of the move: GROUP_AUTHORIZATION_FAILED\nnext: use a user that may read, write and alter/,
    ],
    'a user who may not change the new log': [
      () => ({ to: userSettings(own as SecuredKafka, 'event-monitor') }),
      /^error: Kafka denies a request of the move: GROUP_AUTHORIZATION_FAILED\nnext: use a user that may read, write and alter/,
    ],
  }
  const userSettings = ({ as }: SecuredKafka, user: string) => ({
    Stream__SaslUsername: user,
    Stream__SaslPassword: as(user).sasl?.password ?? '',
  })
  for (const [title, [settings, error]] of Object.entries(failures)) {
    it(`refuses settings with ${title}`, async () => {
      const failure = await moveLog(settings()).then(
        () => 'no failure',
        ({ stderr }) => stderr,
      )
      expect(failure).to.match(error)
      expect(await recordsIn((own as SecuredKafka).operator)).to.deep.equal([])
    })
  }

  it('refuses an address without a broker', async () => {
    const address = `127.0.0.1:${await freePort()}`
    const { stderr } = await moveLog({ from: { Stream__Brokers: address } }).catch((error) => error)
    expect(stderr).to.match(
      new RegExp(`^error: Kafka at ${address} is not reachable: connect ECONNREFUSED .*\nnext: .*/old\\.env\n`),
    )
  })

  it('copies and signs events, and restores the settings of topics', async () => {
    const { stdout } = await moveLog()
    expect(stdout).to.match(/ orderevents: 3 read, 3 written, 2 got a new signature\n/)
    const { operator } = own as SecuredKafka
    const signer = createSigner(['new-key'])
    const records = await recordsIn(operator)
    const contents = records.map(({ value, ...record }) => ({
      total: parseEnvelope(value).Payload.Total,
      isSigned: signer.isBy(value, headerOf(record, signatureHeader)),
      partition: record.partition,
    }))
    expect(contents).to.deep.equal([
      { total: 1, isSigned: true, partition },
      { total: 2, isSigned: true, partition },
      { total: 3, isSigned: false, partition },
    ])
    const times = (await recordsIn((old as SecuredKafka).operator)).map(({ timestamp }) => timestamp)
    expect(records.map(({ timestamp }) => timestamp)).to.deep.equal(times)
    const names = Object.keys(settingsOf(orderEvents))
    const asked = { resourceType: 2, resourceName: orderEvents, configurationKeys: names } as const
    const [described] = await withAdmin(operator, (admin) => admin.describeConfigs({ resources: [asked] }))
    const found = described?.configs.map(({ name, value }) => [name, value])
    expect(Object.fromEntries(found ?? [])).to.deep.equal(settingsOf(orderEvents))
  })

  it('moves the positions of consumer groups, and keeps later positions in a second run', async () => {
    const { operator } = own as SecuredKafka
    expect(await committed(operator)).to.equal(1n)
    await commit(operator, 3n)
    expect((await moveLog()).stdout).to.match(/ orderevents: 3 read, 0 written, 3 were written by an earlier run/)
    expect(await committed(operator)).to.equal(3n)
  })

  it('connects to the Kafka of containers with the variables of .env', async () => {
    const { plan, certificate, passwords } = old as SecuredKafka
    const variables = {
      KAFKA_PORT: String(plan.ports.kafka),
      KAFKA_OPERATOR_PASSWORD: passwords.operator ?? '',
      KAFKA_CERTIFICATE: bodyOf(certificate),
      SIGNING_KEYS: 'a,b',
      SIGNED_SINCE: '2026-11-21T10:00:00Z',
    }
    const side = sideOf(dirname(settingsFile('old/.env', variables)))
    expect(await requireTopics(side)).to.include(orderEvents)
    expect(side).to.deep.include({ signingKeys: ['a', 'b'], signedSince: Date.parse('2026-11-21T10:00:00Z') })
  })
})
