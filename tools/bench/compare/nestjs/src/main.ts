import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { type MicroserviceOptions, Transport } from '@nestjs/microservices'
import { PaymentsModule } from './payments.js'

// `node dist/main.js` with BROKER, INPUT, GROUP, TOPIC (to publish to), PARTITIONS, SESSION_TIMEOUT_MS, DEAD_LETTERS and the PG variables. It
// validates only with SCHEMA, the file of a JSON Schema.
const { BROKER = '', GROUP = '', PARTITIONS, SESSION_TIMEOUT_MS } = process.env

const app = await NestFactory.createMicroservice<MicroserviceOptions>(PaymentsModule, {
  transport: Transport.KAFKA,
  options: {
    postfixId: '',
    client: { clientId: 'nestjs-payments', brokers: [BROKER] },
    consumer: { groupId: GROUP, sessionTimeout: Number(SESSION_TIMEOUT_MS), heartbeatInterval: 1_000 },
    subscribe: { fromBeginning: true },
    // Commits the offsets of handled events each second, even if other fetched events still wait.
    run: { partitionsConsumedConcurrently: Number(PARTITIONS), autoCommitInterval: 1_000 },
  },
})
app.enableShutdownHooks()
await app.listen()
