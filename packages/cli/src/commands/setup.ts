import { MongoClient, MongoServerError } from 'mongodb'
import { kafkaPasswords } from '../containers/project.ts'
import { ensureAccess } from '../kafka/access.ts'
import { kafkaConnection } from '../kafka/connection.ts'
import { ensureTopics, topics } from '../kafka/topics.ts'
import { localCertificate } from '../lib/credentials.ts'
import { withRetries } from '../lib/poll.ts'
import { ensureDatabases, serviceDatabases } from '../lib/postgresql.ts'
import { timed } from '../lib/terminal.ts'

const alreadyInitialized = 23

// docker-compose.yml runs this program before the sidecars start: `node src/commands/setup.ts CERTIFICATE_FOLDER`.
const [folder = ''] = process.argv.slice(2)
const tell = timed()
try {
  await localCertificate(folder)
  tell('certificate: ready')
  const kafka = kafkaConnection(process.env)
  const passwords = Object.entries(kafkaPasswords).map(([user, variable]) => [user, required(variable)])
  const access = await withRetries('Kafka', () => ensureAccess(kafka, Object.fromEntries(passwords)))
  tell(`users and rights: ready (${access.added} rights added, ${access.removed} removed)`)
  const warnings = await withRetries('Kafka', () => ensureTopics(kafka, topics.containers))
  for (const warning of warnings) tell(`warning: ${warning}`)
  tell('topics: ready')
  const { State__ConnectionString: uri = '' } = process.env
  if (uri.startsWith('postgres:')) {
    await withRetries('PostgreSQL', () => ensureDatabases(uri, serviceDatabases))
    tell('databases: ready')
  } else {
    await withRetries('MongoDB', () => ensureReplicaSet(uri))
    tell('replica set: ready')
  }
} catch (error) {
  // Prints only the message, because other fields of a driver's error may contain secrets.
  tell(`error: ${(error as Error).message}`)
  process.exitCode = 1
}

function required(variable: string): string {
  const value = process.env[variable]
  if (value) return value
  throw new Error(`${variable} is not set`)
}

/**
 * Configures a MongoDB server as the replica set that `uri` names, and waits until the server accepts writes.
 * @param uri has `replicaSet=` and one host; all clients must reach the server at this host
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
  // This connection waits until the replica set has a primary.
  const client = await MongoClient.connect(uri, { serverSelectionTimeoutMS: 30_000 })
  await client.close()
}
