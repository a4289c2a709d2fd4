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
try {
  await localCertificate(folder)
  tell('certificate: there')
  const warnings = await withRetries('Kafka', () => ensureTopics(kafkaConnection(process.env)))
  for (const warning of warnings) tell(`warning: ${warning}`)
  tell('topics: there')
  await withRetries('MongoDB', () => ensureReplicaSet(process.env.State__ConnectionString ?? ''))
  tell('replica set: there')
} catch (error) {
  // The message alone: other fields of a driver's errors say more than a log should know.
  tell(`error: ${(error as Error).message}`)
  process.exitCode = 1
}
