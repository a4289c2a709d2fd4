import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orderUrl, orderWith, send } from '@orderflow/chaos/clients/api'
import { full, reduced } from '@orderflow/chaos/clients/envelopes'
import { withAdmin } from '@orderflow/kafka-log'
import { type KafkaConnection, securedKafka, services } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { ensureAccess, stackUsers } from '@orderflow/stack/internals'
import { createProducer } from '@orderflow/test-kit'
import { AclOperations } from '@platformatic/kafka'
import { expect } from 'chai'
import { orderflowFailed, succeeded } from '../specs/operations/commands.ts'
import { aclOf } from '../support/kafka/kafka-rights.ts'
import { refusalOf } from '../support/kafka/refusal.ts'
import type { RunningContainers } from './running-containers.ts'

/** Repeats the main rules of test/log/stream-rights.int.test.ts for Kafka in containers, and tests the operator’s commands. */
export function access(running: () => RunningContainers): void {
  describe('Kafka in containers', () => {
    let stack: RunningContainers
    let folder: string
    before(() => {
      stack = running()
      folder = mkdtempSync(join(tmpdir(), 'access-'))
    })
    after(() => rmSync(folder, { recursive: true, force: true }))

    const listTopics = (kafka: KafkaConnection) => withAdmin(kafka, (admin) => admin.listTopics())

    it('requires TLS and a password, and refuses an unknown user with the same error as a wrong password', async () => {
      const { kafkaAs } = stack.settings
      const { bootstrapBrokers, sasl, tls } = stack.kafka
      for (const user of stackUsers) expect(await refusalOf(listTopics(kafkaAs(user))), user).to.equal(undefined)
      for (const kafka of [
        kafkaAs('order-service', 'wrong'),
        kafkaAs('nobody', 'wrong'),
        kafkaAs('orderflow', 'wrong'),
      ]) {
        expect(await refusalOf(listTopics(kafka))).to.equal('SASL_AUTHENTICATION_FAILED')
      }
      const plain = { ...kafkaAs('operator').sasl, mechanism: 'PLAIN', username: 'broker' } as NonNullable<typeof sasl>
      expect(await refusalOf(listTopics({ bootstrapBrokers, sasl: plain, ...(tls && { tls }) }))).to.equal(
        'UNSUPPORTED_SASL_MECHANISM',
      )
      for (const kafka of [{ bootstrapBrokers }, { bootstrapBrokers, ...(sasl && { sasl }) }]) {
        expect(await refusalOf(listTopics(kafka))).to.be.a('string')
      }
    })

    it('gives its users exactly the rights that services.json declares', async () => {
      const passwords = stackUsers.map((user) => [user, stack.settings.kafkaAs(user).sasl?.password ?? ''])
      expect(await ensureAccess(stack.kafka, Object.fromEntries(passwords))).to.deep.equal({ added: 0, removed: 0 })
    })

    it('forbids the user of a service and its sidecar to write to topics of other services', async () => {
      for (const [service, topic] of [
        ['payment-service', 'orderevents'],
        ['payment-service', 'paymentevents.dead'],
        ['order-service', 'paymentevents'],
      ] as const) {
        const producer = createProducer(stack.settings.kafkaAs(service))
        const refusal = await refusalOf(producer.send({ topic, value: JSON.stringify(full()) }))
        await producer.close()
        expect(refusal, `${service} ${topic}`).to.equal('TOPIC_AUTHORIZATION_FAILED')
      }
    })

    it('a service reports a right that it lacks, and `make up` restores this right', async () => {
      const ready = () => send<Record<string, string>>(`${orderUrl(stack)}/readyz`)
      const right = aclOf('order-service', 'orderevents', AclOperations.WRITE)
      await withAdmin(stack.kafka, (admin) => admin.deleteAcls({ filters: [right] }))
      const { body } = await eventually(async () => {
        const answer = await ready()
        return answer.status === 503 ? answer : undefined
      }, 'order-service to miss its right')
      expect(JSON.stringify(body)).to.contain('this user may not write topic orderevents')
      succeeded(await stack.make('up'))
      await eventually(async () => (await ready()).status === 200 || undefined, 'order-service to be ready again')
    })

    it('accepts events of an outside publisher from the creation of its user until the user is removed', async () => {
      const printed = succeeded(await stack.orderflow(['publisher', 'legacy']))
      expect(printed).to.contain('legacy may write only orderevents')
      const legacy = clientOf(printed, stack)
      const event = reduced()
      const producer = createProducer(legacy)
      await producer.send({ topic: 'orderevents', value: JSON.stringify(event) })
      await orderWith(orderUrl(stack), event.Payload.OrderId, 'Paid')
      const other = refusalOf(producer.send({ topic: 'paymentevents', value: JSON.stringify(event) }))
      expect(await other).to.equal('TOPIC_AUTHORIZATION_FAILED')
      await producer.close()

      expect(succeeded(await stack.orderflow(['publisher']))).to.equal('legacy\n')
      expect(orderflowFailed(await stack.orderflow(['publisher', 'legacy']))).to.contain('--rotate')
      const next = clientOf(succeeded(await stack.orderflow(['publisher', 'legacy', '--rotate'])), stack)
      await eventually(() => refusalOf(listTopics(legacy)), 'the first password to be refused')
      expect(await refusalOf(listTopics(next))).to.equal(undefined)
      expect(succeeded(await stack.orderflow(['publisher', 'legacy', '--remove']))).to.contain('legacy is removed')
      await eventually(() => refusalOf(listTopics(next)), 'legacy to be refused')
      for (const name of ['legacy', ...services.map((service) => service.name)]) {
        expect(orderflowFailed(await stack.orderflow(['publisher', name, '--remove']))).to.match(/^error: .*\nnext: /m)
      }
    })

    it('`./orderflow publish` refuses payment events, and names the only topic that outside publishers may write to', async () => {
      const file = join(folder, `${randomUUID()}.json`)
      const paid = { ...reduced(), Name: 'PaymentApproved', Payload: { OrderId: randomUUID() } }
      writeFileSync(file, JSON.stringify(paid))
      const refused = orderflowFailed(await stack.orderflow(['publish', file, '--raw']))
      expect(refused).to.contain('outside publishers may not write paymentevents, only orderevents')
    })
  })
}

function clientOf(printed: string, { kafka }: RunningContainers): KafkaConnection {
  const told = (name: string) => new RegExp(`^${name} +(\\S+)$`, 'm').exec(printed)?.[1] ?? ''
  expect(told('bootstrap.servers').split(':').at(-1)).to.equal(kafka.bootstrapBrokers[0]?.split(':').at(-1))
  expect([told('security.protocol'), told('sasl.mechanism')]).to.deep.equal(['SASL_SSL', 'SCRAM-SHA-512'])
  const user = { username: told('sasl.username'), password: told('sasl.password') }
  return securedKafka(told('bootstrap.servers'), user, readFileSync(told('ssl.ca.location'), 'utf8'))
}
