import { withAdmin } from '@orderflow/kafka-log'
import { freePorts, type KafkaConnection, securedKafka } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { bodyOf, brokerSecurity, brokerUser, brokerVariable, makeCertificate } from '@orderflow/stack/internals'
import { docker } from '@orderflow/stack/machine'
import { createProducer, openLog } from '@orderflow/test-kit'
import { expect } from 'chai'
import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers'

const broker = { user: brokerUser, password: 'of the broker, with spaces' }
const app = { username: 'app', password: 'a password with spaces' }
const tool = (name: string) => `/opt/kafka/bin/${name}.sh`

const settings = {
  KAFKA_NODE_ID: '1',
  KAFKA_PROCESS_ROLES: 'broker,controller',
  KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
  KAFKA_LOG_DIRS: '/var/lib/kafka/data',
  KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
  KAFKA_BROKER_SESSION_TIMEOUT_MS: '3000',
  KAFKA_BROKER_HEARTBEAT_INTERVAL_MS: '500',
  KAFKA_HEAP_OPTS: '-Xmx256m',
}

const listeners = { clients: { CLIENT: ':9092' }, broker: 'localhost:9094', controller: 'localhost:9093' }

const adminProperties = `security.protocol=SASL_PLAINTEXT
sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="${broker.user}" password="${broker.password}";
`

export function kafkaContract(image: string): void {
  let container: StartedTestContainer
  let kafka: KafkaConnection

  before(async () => {
    const [{ kafka: port }, { certificate, key }] = await Promise.all([freePorts(), makeCertificate()])
    kafka = securedKafka(`127.0.0.1:${port}`, app, certificate)
    const secrets = { password: broker.password, certificate: bodyOf(certificate), key: bodyOf(key) }
    const security = Object.entries(brokerSecurity(listeners, secrets))
    container = await new GenericContainer(image)
      .withExposedPorts({ container: 9092, host: port })
      .withEnvironment({
        ...settings,
        ...Object.fromEntries(security.map(([name, value]) => [brokerVariable(name), String(value)])),
        KAFKA_ADVERTISED_LISTENERS: `CLIENT://127.0.0.1:${port},BROKER://localhost:9094`,
      })
      .withCopyContentToContainer([{ content: adminProperties, target: '/tmp/admin.properties' }])
      .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
      .start()
  })
  after(() => container?.stop())

  const administer = (name: string, ...args: string[]) =>
    container.exec([
      tool(name),
      ...['--bootstrap-server', 'localhost:9094', '--command-config', '/tmp/admin.properties'],
      ...args,
    ])

  it('contains the tools to administer topics, users and rights', async () => {
    const topic = ['--topic', 'events']
    const created = await administer('kafka-topics', '--create', ...topic, '--partitions', '3')
    expect(created.output).to.contain('Created topic events')
    const { output } = await administer('kafka-broker-api-versions')
    expect(output).to.match(/^localhost:9094 \(id: 1 /m)
    const user = ['--entity-type', 'users', '--entity-name', app.username]
    const credential = `SCRAM-SHA-512=[password=${app.password}]`
    const made = await administer('kafka-configs', '--alter', ...user, '--add-config', credential)
    expect(made.output).to.contain('Completed updating config for user app')
    const denied = await withAdmin(kafka, (admin) => admin.listTopics())
    expect(denied).to.deep.equal([])
    for (const right of [
      ['--operation', 'Read', '--operation', 'Write', ...topic],
      ['--operation', 'Read', '--group', '*'],
    ]) {
      const given = await administer('kafka-acls', '--add', '--allow-principal', `User:${app.username}`, ...right)
      expect(given.output).to.contain('Adding ACLs')
    }
  })

  it('reads its configuration from KAFKA_ variables, and requires the configured password', async () => {
    const producer = createProducer(kafka)
    await producer.send({ topic: 'events', key: 'k', value: 'v' })
    await producer.close()
    expect(await read()).to.deep.equal(['k=v'])
    const stranger: KafkaConnection = { ...kafka, sasl: { mechanism: 'SCRAM-SHA-512', ...app, password: 'other' } }
    const refused = await withAdmin(stranger, (admin) => admin.listTopics()).catch((error: Error) => error)
    expect(refused).to.be.instanceOf(Error)
  })

  it('runs as an unprivileged user and keeps its password and key out of its log', async () => {
    expect((await container.exec(['id', '-u'])).output).to.equal('1000\n')
    const { output } = await container.exec(['cat', '/opt/kafka/config/server.properties'])
    expect(output).to.contain(broker.password)
    const [, key = ''] = /PRIVATE KEY----- (.+) -----END/.exec(output) ?? []
    expect(key).to.have.length.above(100)
    const log = await docker('logs', container.getId())
    expect(log).to.contain('Kafka Server started')
    for (const secret of [broker.password, app.password, key]) expect(log.includes(secret)).to.equal(false)
  })

  it('keeps acknowledged records when it is killed and started again', async () => {
    await docker('kill', container.getId())
    await container.restart()
    expect(await read()).to.deep.equal(['k=v'])
  })

  async function read(): Promise<string[]> {
    const log = await eventually(() => openLog(kafka, ['events']).catch(() => undefined), 'the broker answers')
    try {
      await eventually(() => log.records.length > 0 || undefined, 'the record is read')
      return log.records.map(({ key, value }) => `${key}=${value}`)
    } finally {
      await log.close()
    }
  }
}
