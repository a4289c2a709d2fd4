import { MongoClient, MongoServerError } from 'mongodb'
import { kafkaPasswords } from '../containers/project.ts'
import { ensureAccess } from '../kafka/access.ts'
import { kafkaConnection } from '../kafka/connection.ts'
import { ensureTopics, topics } from '../kafka/topics.ts'
import { localCertificate } from '../lib/credentials.ts'
import { withRetries } from '../lib/poll.ts'
import { ensureDatabases, serviceDatabases } from '../lib/postgresql.ts'
import { timed } from '../lib/terminal.ts'

/** MongoDB's code AlreadyInitialized. */
const alreadyInitialized = 23

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

/**
 * Makes a single MongoDB server the replica set that its URI names, and waits until it takes writes: transactions exist on
 * replica sets only. A server that is one already stays as it is.
 * @param uri with one host, by which the members and all clients know the server, and `replicaSet=`
 */
async function ensureReplicaSet(uri: string): Promise<void> {
  const { host, searchParams } = new URL(uri)
  const name = searchParams.get('replicaSet')
  searchParams.delete('replicaSet')
  const direct = await MongoClient.connect(uri.replace(/\?.*/, `?${searchParams}`), { directConnection: true })
  try {
    await direct.db('admin').command({ replSetInitiate: { _id: name, members: [{ _id: 0, host }] } })
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.code !== alreadyInitialized) throw error
  } finally {
    await direct.close()
  }
  // Finds no server until one is the primary of that set.
  const client = await MongoClient.connect(uri, { serverSelectionTimeoutMS: 30_000 })
  await client.close()
}
