import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createEnvelope, orderEvents } from '@orderflow/envelope-schema'
import { groupPositions, type LogRecord, openLog, withAdmin } from '@orderflow/kafka-log'
import { createSigner, settingsOf, signatureHeader } from '@orderflow/service-kit/log'
import type { KafkaConnection } from '@orderflow/stack'
import { eventually, repository } from '@orderflow/stack/base'
import { movePositions, readContent, streamSettings } from '@orderflow/stack/internals'
import { Producer } from '@platformatic/kafka'
import { expect } from 'chai'
import { type SecuredKafka, startSecuredKafka } from '../support/kafka/secured-kafka.ts'

const [topic, group, partition] = [orderEvents, 'payment-service', 1]

describe('./orderflow backup and restore between two Kafkas that require authentication', () => {
  const parent = mkdtempSync(join(tmpdir(), 'secured-backup-'))
  const folder = join(parent, 'backup')
  let old: SecuredKafka
  let own: SecuredKafka

  before(async function () {
    this.timeout(0)
    old = await startSecuredKafka('backup-old')
    own = await startSecuredKafka('backup-own')
    await publish(old.operator)
    // The broker creates the topic of positions at the first request.
    await eventually(
      () => withAdmin(old.operator, (admin) => groupPositions(admin, [group])).catch(() => undefined),
      'the coordinator of the group',
    )
    await movePositions(old.operator, [{ group, topic, partition, offset: 2n }])
  })
  after(async () => {
    await old?.stop()
    await own?.stop()
    rmSync(parent, { recursive: true, force: true })
  })

  /** Writes three signed events, of which the log deletes the first. */
  async function publish(kafka: KafkaConnection): Promise<void> {
    const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'test', ...kafka })
    const app = { id: '6f1d2c1e-6b5a-4d0e-9c57-0d9a3c1b5e01', name: 'order-service' }
    const messages = [0, 1, 2].map((total) => {
      const payload = { OrderId: crypto.randomUUID(), CustomerName: 'Ada', CustomerTaxId: 'GB-1', Total: total }
      const event = createEnvelope({ app, type: 'OrderCreated', creationDate: new Date(), payload })
      const value = Buffer.from(JSON.stringify(event))
      const signature = Buffer.from(createSigner(['a-key']).sign(value) ?? '')
      return { topic, partition, value, headers: new Map([[Buffer.from(signatureHeader), signature]]) }
    })
    await producer.send({ messages, acks: -1 })
    await producer.close()
    const partitions = [{ partition, offset: 1n }]
    await withAdmin(kafka, (admin) => admin.deleteRecords({ topics: [{ name: topic, partitions }] }))
  }

  async function recordsIn({
    operator,
  }: SecuredKafka): Promise<Pick<LogRecord, 'key' | 'value' | 'headers' | 'timestamp'>[]> {
    const log = openLog(operator)
    try {
      const records: Pick<LogRecord, 'key' | 'value' | 'headers' | 'timestamp'>[] = []
      for await (const batch of log.read(topic, await log.spans(topic)))
        records.push(...batch.map(({ key, value, headers, timestamp }) => ({ key, value, headers, timestamp })))
      return records
    } finally {
      await log.close()
    }
  }

  const orderflow = (command: string, { operator }: SecuredKafka, changes: Record<string, string> = {}) =>
    promisify(execFile)('./orderflow', [command, folder], {
      ...{ cwd: repository, env: { ...process.env, ...streamSettings(operator), ...changes } },
    })
  const refusal = (command: string, kafka: SecuredKafka, changes: Record<string, string>) =>
    orderflow(command, kafka, changes).then(
      () => 'no failure',
      ({ stderr }) => stderr,
    )

  const failures: Record<string, [changes: Record<string, string>, error: RegExp]> = {
    'a wrong password': [{ Stream__SaslPassword: 'guessed' }, /SASL authentication failed/],
    'a mechanism that the broker lacks': [{ Stream__SaslMechanism: 'SCRAM-SHA-1' }, /SCRAM-SHA-1 is not supported/],
    'an unknown certificate': [{ Stream__CaCert: '' }, /self-signed certificate/],
    'no TLS': [{ Stream__DisableTls: 'true' }, /Connection closed/],
    'no authentication': [{ Stream__AuthType: 'none' }, /Broker requires TLS/],
  }
  for (const [title, [changes, error]] of Object.entries(failures)) {
    it(`writes no backup with ${title}`, async () => {
      const message = await refusal('backup', old, changes)
      expect(message).to.match(error)
      expect(message).to.match(/^error: .*\nnext: /)
      expect(readContent(folder)).to.equal(undefined)
    })
  }

  it('copies events with their signatures, times and settings of their topic', async () => {
    await orderflow('backup', old)
    await orderflow('restore', own)
    const records = await recordsIn(own)
    expect(records).to.have.length(2)
    expect(records).to.deep.equal(await recordsIn(old))
    const names = Object.keys(settingsOf(topic))
    const asked = { resourceType: 2, resourceName: topic, configurationKeys: names } as const
    const [described] = await withAdmin(own.operator, (admin) => admin.describeConfigs({ resources: [asked] }))
    const found = described?.configs.map(({ name, value }) => [name, value])
    expect(Object.fromEntries(found ?? [])).to.deep.equal(settingsOf(topic))
  })

  it('moves the positions of consumer groups', async () => {
    expect(await withAdmin(own.operator, (admin) => groupPositions(admin, [group]))).to.deep.equal([
      { group, topic, partition, offset: 1n },
    ])
  })
})
