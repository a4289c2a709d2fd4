import { localCertificate } from './certificate.ts'
import { kafkaConnection } from './kafka-connection.ts'
import { ensureReplicaSet } from './replica-set.ts'
import { timed } from './terminal.ts'
import { ensureTopics } from './topics.ts'
import { withRetries } from './with-retries.ts'

// What docker-compose.yml runs once before the sidecars start: `node src/setup.ts CERTIFICATE_FOLDER`, with the same variables
// for Kafka and MongoDB that a sidecar gets.
const [folder = ''] = process.argv.slice(2)
const tell = timed()

await localCertificate(folder)
tell('certificate: there')
for (const warning of await withRetries('Kafka', () => ensureTopics(kafkaConnection(process.env)))) {
  tell(`warning: ${warning}`)
}
tell('topics: there')
await withRetries('MongoDB', () => ensureReplicaSet(process.env.State__ConnectionString ?? ''))
tell('replica set: there')
