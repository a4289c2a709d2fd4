import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { mayBeginTransactions, positionsOf, requestOf, type StreamSettings, withAdmin } from '@orderflow/kafka-log'
import { createStreamCheck } from '@orderflow/service-kit/operations'
import type { KafkaConnection } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import {
  brokerUser,
  ensureAccess,
  transactionDenial,
  transactionsWarning,
  userTroubles,
} from '@orderflow/stack/internals'
import { operatorUser, readPublishers, removePublisher, setPublisher } from '@orderflow/stack/operate'
import { type Acl, AclOperations, AclPermissionTypes, Consumer, Producer, ResourceTypes } from '@platformatic/kafka'
import { expect } from 'chai'
import { aclOf, write } from '../../support/kafka/kafka-rights.ts'
import { publishInTransaction } from '../../support/kafka/kafka-transaction.ts'
import { refusalOf } from '../../support/kafka/refusal.ts'
import type { SecuredKafka } from '../../support/kafka/secured-kafka.ts'

const listTopics = (kafka: KafkaConnection) => withAdmin(kafka, (admin) => admin.listTopics())
const isAccepted = (user: KafkaConnection) =>
  eventually(() => listTopics(user).catch(() => undefined), 'the user to be accepted')
const isRejected = (user: KafkaConnection) => eventually(() => refusalOf(listTopics(user)), 'the user to be rejected')

export function streamUsers(running: () => SecuredKafka): void {
  let kafka: SecuredKafka
  before(() => {
    kafka = running()
  })

  describe('authentication at Kafka', () => {
    it('accepts the right password only over TLS 1.2 or 1.3', async () => {
      const { bootstrapBrokers } = kafka.operator
      expect(await refusalOf(listTopics(kafka.operator))).to.equal(undefined)
      const { sasl } = kafka.operator
      for (const access of [{}, { ...(sasl && { sasl }) }, { tls: { ca: kafka.certificate } }])
        expect(await refusalOf(listTopics({ bootstrapBrokers, ...access }))).to.be.a('string')
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) expect(await handshake(kafka, version)).to.equal(version)
      expect(await handshake(kafka, 'TLSv1.1')).to.be.instanceOf(Error)
    })

    it('rejects a wrong password and an unknown user with the same answer', async () => {
      const refusals = ['order-service', 'nobody-at-all'].map((user) =>
        refusalOf(listTopics(kafka.as(user, 'guessed'))),
      )
      expect(await Promise.all(refusals)).to.deep.equal(['SASL_AUTHENTICATION_FAILED', 'SASL_AUTHENTICATION_FAILED'])
    })

    it('rejects the broker’s own user, and mechanisms that show the password to the broker', async () => {
      const sasl = { mechanism: 'PLAIN', username: brokerUser, password: kafka.brokerPassword } as const
      expect(await refusalOf(listTopics({ ...kafka.operator, sasl }))).to.equal('UNSUPPORTED_SASL_MECHANISM')
      const refusal = await refusalOf(listTopics(kafka.as(brokerUser, kafka.brokerPassword)))
      expect(refusal).to.equal('SASL_AUTHENTICATION_FAILED')
    })

    it('fails for a client that does not trust the broker’s certificate', async () => {
      const { tls: _, ...connection } = kafka.operator
      expect(await refusalOf(listTopics({ ...connection, tls: {} }))).to.match(/self-signed|failed/i)
    })
  })

  describe('ensureAccess', () => {
    const { READ, WRITE, ALL } = AclOperations

    it('changes nothing if all users and rights exist', async () => {
      expect(await kafka.ensureAccess()).to.deep.equal({ added: 0, removed: 0 })
    })

    it('restores the rights of services.json after rights were added or removed', async () => {
      await withAdmin(kafka.operator, async (admin) => {
        await admin.createAcls({ creations: [aclOf('payment-service', 'orderevents', WRITE)] })
        await admin.deleteAcls({ filters: [aclOf('order-service', 'paymentevents', READ)] })
      })
      const refusal = () => refusalOf(write(kafka.as('payment-service'), 'orderevents'))
      await eventually(async () => (await refusal()) === undefined, 'the right to be added')
      expect(await kafka.ensureAccess()).to.deep.equal({ added: 1, removed: 1 })
      await eventually(refusal, 'the right to be removed')
    })

    it('creates users that Kafka has lost, after they were named', async () => {
      const scramSha512 = 2
      const lost = { name: 'payment-service', mechanism: scramSha512 }
      expect(await userTroubles(kafka.operator)).to.deep.equal([])
      await withAdmin(kafka.operator, (admin) => requestOf(admin, 'AlterUserScramCredentials', [lost], []))
      await isRejected(kafka.as('payment-service'))
      expect(await userTroubles(kafka.operator)).to.deep.equal([
        'Kafka has lost its users payment-service: make up creates them again',
      ])
      await kafka.ensureAccess()
      expect(await userTroubles(kafka.operator)).to.deep.equal([])
      await isAccepted(kafka.as('payment-service'))
    })

    it('names an operator whom Kafka refuses', async () => {
      expect(await userTroubles(kafka.as(operatorUser, 'wrong'))).to.deep.equal([
        'Kafka refuses the user operator or its password: if Kafka has lost its users, first create this one',
      ])
    })

    it('removes the user of a former service', async () => {
      await setPublisher(kafka.operator, 'former-service', 'its password')
      await isAccepted(kafka.as('former-service', 'its password'))
      expect(await kafka.ensureAccess()).to.deep.equal({ added: 0, removed: 1 })
      await isRejected(kafka.as('former-service', 'its password'))
    })

    it('keeps users of other applications on a Kafka that is not its own', async () => {
      await setPublisher(kafka.operator, 'other-service', 'its password')
      const changes = await ensureAccess(kafka.operator, kafka.passwords, { isOwn: false })
      expect(changes).to.deep.equal({ added: 0, removed: 0 })
      expect(await refusalOf(write(kafka.as('other-service', 'its password'), 'orderevents'))).to.equal(undefined)
      await removePublisher(kafka.operator, 'other-service')
    })

    it('lets other applications begin transactions on a Kafka that is not its own', async () => {
      const accounting = kafka.as('accounting', 'its password')
      await setPublisher(kafka.operator, 'accounting', 'its password')
      const right = aclOf('accounting', '*', ALL, { resourceType: ResourceTypes.TRANSACTIONAL_ID })
      const filters = [await transactionDenial(), aclOf('accounting', 'orderevents', WRITE)]
      await withAdmin(kafka.operator, async (admin) => {
        await admin.createAcls({ creations: [right] })
        await admin.deleteAcls({ filters })
      })
      const changes = await ensureAccess(kafka.operator, kafka.passwords, { isOwn: false })
      expect(changes).to.deep.equal({ added: 0, removed: 0 })
      await eventually(() => withAdmin(accounting, mayBeginTransactions), 'the application to be allowed')
      // The application may not write to topics of services.
      expect(await transactionsWarning(kafka.operator)).to.equal(undefined)
      await removePublisher(kafka.operator, 'accounting')
      expect(await kafka.ensureAccess()).to.deep.equal({ added: 1, removed: 0 })
    })

    it('keeps the password of the user that runs it', async () => {
      await ensureAccess(kafka.operator, { ...kafka.passwords, [operatorUser]: 'another password' })
      expect(await refusalOf(listTopics(kafka.operator))).to.equal(undefined)
    })

    it('keeps outside publishers unchanged', async () => {
      await setPublisher(kafka.operator, 'shop', 'of the shop')
      expect(await kafka.ensureAccess()).to.deep.equal({ added: 0, removed: 0 })
      expect(await readPublishers(kafka.operator)).to.include('shop')
      expect(await refusalOf(write(kafka.as('shop', 'of the shop'), 'orderevents'))).to.equal(undefined)
    })
  })

  describe('the denial of transactions', () => {
    const { ALL } = AclOperations
    const event = { topic: 'orderevents', value: Buffer.from('{}') }
    const till = () => kafka.as('till', 'of the till')
    const mayBegin = () => withAdmin(till(), mayBeginTransactions)
    before(async () => {
      await setPublisher(kafka.operator, 'till', 'of the till')
      const right = aclOf('till', '*', ALL, { resourceType: ResourceTypes.TRANSACTIONAL_ID })
      await withAdmin(kafka.operator, (admin) => admin.createAcls({ creations: [right] }))
    })
    after(() => removePublisher(kafka.operator, 'till'))

    it('denies transactions even if another rule allows them', async () => {
      const refusal = await refusalOf(publishInTransaction(till(), event, 'abort'))
      expect(refusal).to.equal('TRANSACTIONAL_ID_AUTHORIZATION_FAILED')
      expect(await transactionsWarning(kafka.operator)).to.equal(undefined)
    })

    it('warns operator and application if the denial is removed, until ensureAccess restores the denial', async () => {
      const filters = [await transactionDenial()]
      await withAdmin(kafka.operator, (admin) => admin.deleteAcls({ filters }))
      await eventually(mayBegin, 'the application to be allowed')
      expect(await transactionsWarning(kafka.operator)).to.match(/^Kafka lets till begin transactions/)
      // This user may not read all rules, so the check asks Kafka only about this user’s rights.
      expect(await transactionsWarning(till())).to.match(/^Kafka lets this user begin transactions/)
      expect(await kafka.ensureAccess()).to.deep.equal({ added: 1, removed: 0 })
      await eventually(async () => (await mayBegin()) === false, 'the application to be denied')
      expect(await transactionsWarning(till())).to.equal(undefined)
    })
  })

  describe('the user of an outside publisher', () => {
    it('owns one valid password at a time, and loses access as soon as the user is removed', async () => {
      await setPublisher(kafka.operator, 'till', 'the first')
      await isAccepted(kafka.as('till', 'the first'))
      await setPublisher(kafka.operator, 'till', 'the second')
      await isRejected(kafka.as('till', 'the first'))

      const producer = new Producer({ clientId: 'till', ...kafka.as('till', 'the second'), retries: 0 })
      const send = () => producer.send({ messages: [{ topic: 'orderevents', value: Buffer.from('{}') }], acks: -1 })
      await send()
      await removePublisher(kafka.operator, 'till')
      await eventually(async () => (await refusalOf(send())) === 'TOPIC_AUTHORIZATION_FAILED', 'it may not write')
      await producer.close()
      expect(await refusalOf(listTopics(kafka.as('till', 'the second')))).to.equal('SASL_AUTHENTICATION_FAILED')
      expect(await readPublishers(kafka.operator)).to.not.include('till')
    })
  })

  describe('the user of a service', () => {
    const name = 'order-service'
    const use = { group: name, reads: ['orderevents', 'paymentevents'], writes: ['orderevents', 'orderevents.dead'] }
    const denial = (resourceType: Acl['resourceType'], resourceName: string, operation: Acl['operation']) =>
      aclOf(name, resourceName, operation, { resourceType, permissionType: AclPermissionTypes.DENY })
    const { TOPIC, GROUP } = ResourceTypes
    const { READ, WRITE, DESCRIBE } = AclOperations

    let check: () => Promise<string | undefined>
    let member: Consumer
    before(async () => {
      check = createStreamCheck(settingsOf(kafka.as(name)), use)
      member = new Consumer({ clientId: 'test', groupId: name, ...kafka.as(name) })
      const stream = await member.consume({ topics: ['orderevents'] })
      // This consumer ignores errors, because the check must report missing rights and a stopped broker.
      stream.on('data', () => {}).on('error', () => {})
    })
    after(() => member.close(true))

    it('lets the watchdog read the members and the unhandled records of the group', async () => {
      const producer = new Producer({ clientId: 'test', ...kafka.operator })
      await producer.send({ messages: [{ topic: 'paymentevents', value: Buffer.from('{}') }], acks: -1 })
      await producer.close()
      await withAdmin(kafka.as(name), async (admin) => {
        const positions = await positionsOf(admin, new Map([[name, use.reads]]))
        expect(positions.map(({ topic }) => topic)).to.include.members(use.reads)
        expect(positions.reduce((sum, { lag }) => sum + lag, 0)).to.be.above(0)
        expect((await admin.describeGroups({ groups: [name] })).get(name)?.members.size).to.equal(1)
      })
    })

    const comesToBe = (missing: string | undefined) =>
      eventually(async () => (await check()) === missing || undefined, `${missing}`)

    const denials: Record<string, Acl> = {
      'this user may not read topic paymentevents': denial(TOPIC, 'paymentevents', READ),
      'this user may not write topic orderevents': denial(TOPIC, 'orderevents', WRITE),
      'this user may not write topic orderevents.dead': denial(TOPIC, 'orderevents.dead', DESCRIBE),
      'this user may not describe consumer group order-service': denial(GROUP, name, DESCRIBE),
    }
    for (const [words, acl] of Object.entries(denials)) {
      it(`reports the missing right, and recovers when the right is granted: ${words}`, async () => {
        await comesToBe(undefined)
        await withAdmin(kafka.operator, (admin) => admin.createAcls({ creations: [acl] }))
        await comesToBe(words)
        expect(await kafka.ensureAccess()).to.deep.equal({ added: 0, removed: 1 })
        await comesToBe(undefined)
      })
    }

    it('reports a wrong password', async () => {
      const stranger = createStreamCheck(settingsOf(kafka.as(name, 'wrong')), use)
      expect(await stranger()).to.equal('the broker does not accept the user and its password')
    })
  })

  it('stores passwords as salted hashes with enough iterations', async () => {
    const { results } = await withAdmin(kafka.operator, (admin) =>
      requestOf<{ results: { user: string; credentialInfos: { mechanism: number; iterations: number }[] }[] }>(
        admin,
        'DescribeUserScramCredentials',
        [],
      ),
    )
    expect(results.map(({ user }) => user)).to.include.members(Object.keys(kafka.passwords))
    const sha512 = 2
    for (const { credentialInfos } of results)
      expect(credentialInfos).to.deep.equal([{ mechanism: sha512, iterations: 4096 }])
  })
}

function settingsOf({ bootstrapBrokers, sasl, tls }: KafkaConnection): StreamSettings {
  return {
    Brokers: bootstrapBrokers.join(),
    AuthType: 'password',
    SaslMechanism: 'SHA-512',
    SaslUsername: sasl?.username ?? '',
    SaslPassword: sasl?.password ?? '',
    DisableTls: false,
    CaCert: tls?.ca ?? '',
  }
}

/** Returns the TLS version of a connection to the broker if the client supports only `version`, or the error of the connection. */
function handshake(kafka: SecuredKafka, version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<string | null | Error> {
  const [host = '', port] = (kafka.operator.bootstrapBrokers[0] ?? '').split(':')
  return new Promise((resolve) => {
    const socket = connectTls({
      socket: connect(Number(port), host),
      host,
      ca: kafka.certificate,
      minVersion: version,
      maxVersion: version,
      // By default, OpenSSL itself would refuse old versions of TLS.
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    socket.once('secureConnect', () => {
      resolve(socket.getProtocol())
      socket.destroy()
    })
    socket.once('error', resolve)
  })
}
