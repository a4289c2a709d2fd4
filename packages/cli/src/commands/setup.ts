import { ensureReplicaSet } from '../containers/replica-set.ts'
import { kafkaPasswords } from '../containers/variables.ts'
import { ensureAccess } from '../kafka/access.ts'
import { kafkaConnection } from '../kafka/connection.ts'
import { ensureTopics, topics } from '../kafka/topics.ts'
import { localCertificate } from '../lib/credentials.ts'
import { withRetries } from '../lib/poll.ts'
import { ensureDatabases, serviceDatabases } from '../lib/postgresql.ts'
import { timed } from '../lib/terminal.ts'

// What docker-compose.yml runs once before the sidecars start: `node src/commands/setup.ts CERTIFICATE_FOLDER`, with the variables for
// the store that a sidecar gets, those of Kafka for the broker's own user, and the passwords of all others.
const [folder = ''] = process.argv.slice(2)
const tell = timed()
try {
  await localCertificate(folder)
  tell('certificate: there')
  const kafka = kafkaConnection(process.env)
  const passwords = Object.entries(kafkaPasswords).map(([user, variable]) => [user, required(variable)])
  const access = await withRetries('Kafka', () => ensureAccess(kafka, Object.fromEntries(passwords)))
  tell(`users and rights: there (${access.added} rights added, ${access.removed} taken away)`)
  const warnings = await withRetries('Kafka', () => ensureTopics(kafka, topics.containers))
  for (const warning of warnings) tell(`warning: ${warning}`)
  tell('topics: there')
  const { State__ConnectionString: uri = '' } = process.env
  if (uri.startsWith('postgres:')) {
    await withRetries('PostgreSQL', () => ensureDatabases(uri, serviceDatabases))
    tell('databases: there')
  } else {
    await withRetries('MongoDB', () => ensureReplicaSet(uri))
    tell('replica set: there')
  }
} catch (error) {
  // The message alone: other fields of a driver's errors say more than a log should know.
  tell(`error: ${(error as Error).message}`)
  process.exitCode = 1
}

/** Without it a user would have an empty password. */
function required(variable: string): string {
  const value = process.env[variable]
  if (value) return value
  throw new Error(`${variable} is not set`)
}
