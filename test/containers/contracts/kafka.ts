import { createProducer, openLog } from '@orderflow/chaos/clients/kafka'
import { eventually, freePorts, type KafkaConnection, withAdmin } from '@orderflow/stack'
import { docker } from '@orderflow/stack/containers'
import { expect } from 'chai'
import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers'

const password = 'a password with spaces'
const jaas = `org.apache.kafka.common.security.plain.PlainLoginModule required user_app="${password}";`
const tool = (name: string) => `/opt/kafka/bin/${name}.sh`

const settings = {
  KAFKA_NODE_ID: '1',
  KAFKA_PROCESS_ROLES: 'broker,controller',
  KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
  KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
  KAFKA_LISTENERS: 'CLIENT://:9092,CONTROLLER://localhost:9093,LOCAL://localhost:9094',
  KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CLIENT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT,LOCAL:PLAINTEXT',
  KAFKA_INTER_BROKER_LISTENER_NAME: 'LOCAL',
  KAFKA_SASL_ENABLED_MECHANISMS: 'PLAIN',
  KAFKA_LISTENER_NAME_CLIENT_PLAIN_SASL_JAAS_CONFIG: jaas,
  KAFKA_LOG_DIRS: '/var/lib/kafka/data',
  KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
  KAFKA_BROKER_SESSION_TIMEOUT_MS: '3000',
  KAFKA_BROKER_HEARTBEAT_INTERVAL_MS: '500',
  KAFKA_HEAP_OPTS: '-Xmx256m',
}

export function kafkaContract(image: string): void {
  let broker: StartedTestContainer
  let kafka: KafkaConnection

  before(async () => {
    const { kafka: port } = await freePorts()
    kafka = {
      bootstrapBrokers: [`127.0.0.1:${port}`],
      sasl: { mechanism: 'PLAIN', username: 'app', password },
    }
    broker = await new GenericContainer(image)
      .withExposedPorts({ container: 9092, host: port })
      .withEnvironment({
        ...settings,
        KAFKA_ADVERTISED_LISTENERS: `CLIENT://127.0.0.1:${port},LOCAL://localhost:9094`,
      })
      .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
      .start()
  })
  after(() => broker?.stop())

  it('brings the tools that administer it', async () => {
    const local = ['--bootstrap-server', 'localhost:9094']
    const created = await broker.exec([
      tool('kafka-topics'),
      ...local,
      '--create',
      '--topic',
      'events',
      '--partitions',
      '3',
    ])
    expect(created.output).to.contain('Created topic events')
    const { output } = await broker.exec([tool('kafka-broker-api-versions'), ...local])
    expect(output).to.match(/^localhost:9094 \(id: 1 /)
  })

  it('is configured by KAFKA_ variables: a client with the password writes and reads, one with another does not', async () => {
    const producer = createProducer(kafka)
    await producer.send({ topic: 'events', key: 'k', value: 'v' })
    await producer.close()
    expect(await read()).to.deep.equal(['k=v'])
    const stranger: KafkaConnection = { ...kafka, sasl: { mechanism: 'PLAIN', username: 'app', password: 'other' } }
    const refused = await withAdmin(stranger, (admin) => admin.listTopics()).catch((error: Error) => error)
    expect(refused).to.be.instanceOf(Error)
  })

  it('runs as nobody special and keeps its password out of its log', async () => {
    expect((await broker.exec(['id', '-u'])).output).to.equal('1000\n')
    const { output } = await broker.exec(['cat', '/opt/kafka/config/server.properties'])
    expect(output).to.contain(password)
    expect(await docker('logs', broker.getId()))
      .to.contain('Kafka Server started')
      .and.not.to.contain(password)
  })

  it('has what it acknowledged after it was killed and started again', async () => {
    await docker('kill', broker.getId())
    await broker.restart()
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
