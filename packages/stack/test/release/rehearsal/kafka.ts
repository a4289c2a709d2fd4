import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KafkaConnection } from '@orderflow/kafka-log'
import { images } from '../../../src/application/images.ts'
import { brokerRules } from '../../../src/kafka/broker.ts'
import { ensureTopics, topics } from '../../../src/kafka/topics.ts'
import { denyTransactions } from '../../../src/kafka/transactions.ts'
import type { CertificateFiles } from './certificate-files.ts'
import type { Containers } from './containers.ts'

export interface KafkaOptions {
  folder: string
  containers: Containers
  certificate: CertificateFiles
  user: string
  password: string
  /** The port for programs on this machine. Containers use kafka:9093. */
  hostPort: number
}

const iterations = 4096
const clusterId = 'b3JkZXJmbG93LWthZmthLQ'

/** Starts a broker that requires a password (SCRAM-SHA-512) and TLS, like hosted brokers. Creates its topics. */
export async function startKafka(options: KafkaOptions): Promise<KafkaConnection> {
  const { folder, containers, certificate, user, password, hostPort } = options
  const salt = randomBytes(16)
  // Passes only a salted hash, because process lists of the container show the arguments.
  const salted = pbkdf2Sync(password, salt, iterations, 64, 'sha512').toString('base64')
  const credential = `name=${user},salt="${salt.toString('base64')}",saltedpassword="${salted}",iterations=${iterations}`
  const files = {
    '/tmp/server.properties': join(folder, 'server.properties'),
    '/tmp/server.pem': certificate.bothFile,
    '/tmp/trusted.pem': certificate.certificateFile,
    '/tmp/start': join(folder, 'start-kafka'),
  }
  writeFileSync(files['/tmp/server.properties'], properties(hostPort), { mode: 0o644 })
  writeFileSync(
    files['/tmp/start'],
    `#!/bin/bash
set -e
cd /opt/kafka
bin/kafka-storage.sh format --cluster-id=${clusterId} -c /tmp/server.properties --add-scram 'SCRAM-SHA-512=[${credential}]'
exec bin/kafka-server-start.sh /tmp/server.properties
`,
    { mode: 0o755 },
  )
  const connection: KafkaConnection = {
    bootstrapBrokers: [`localhost:${hostPort}`],
    sasl: { mechanism: 'SCRAM-SHA-512', username: user, password },
    tls: { ca: certificate.certificate },
  }
  const run = {
    env: { KAFKA_HEAP_OPTS: '-Xmx512m' },
    // Only root can read the certificate's key.
    options: ['--user', 'root', '--entrypoint', '/tmp/start', '--publish', `127.0.0.1:${hostPort}:${hostPort}`],
    files,
  }
  await containers.run('kafka', images.kafka, run, async () => {
    await denyTransactions(connection)
    return await ensureTopics(connection, topics.containers)
  })
  return connection
}

function properties(hostPort: number): string {
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': '1@localhost:9094',
    'controller.listener.names': 'CONTROLLER',
    listeners: `CLIENT://:9093,HOST://:${hostPort},CONTROLLER://localhost:9094`,
    'advertised.listeners': `CLIENT://kafka:9093,HOST://localhost:${hostPort}`,
    'listener.security.protocol.map': 'CLIENT:SASL_SSL,HOST:SASL_SSL,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'CLIENT',
    'sasl.mechanism.inter.broker.protocol': 'SCRAM-SHA-512',
    'sasl.enabled.mechanisms': 'SCRAM-SHA-512',
    'listener.name.client.scram-sha-512.sasl.jaas.config':
      'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    'listener.name.host.scram-sha-512.sasl.jaas.config':
      'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': '/tmp/server.pem',
    // The broker is also its own client, and must trust its own certificate.
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': '/tmp/trusted.pem',
    'log.dirs': '/tmp/kafka-data',
    ...brokerRules,
    'auto.create.topics.enable': false,
    // Hosted brokers have this value. The local stack has another.
    'group.min.session.timeout.ms': 6000,
    'group.initial.rebalance.delay.ms': 0,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
  }
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('')
}
