import { protocolErrors } from '@orderflow/kafka-log'
import { findErrorBy } from '@platformatic/kafka'
import { MongoClient, MongoServerError } from 'mongodb'
import { localCertificate } from './base/credentials.ts'
import { CliError } from './base/error.ts'
import { withRetries } from './base/run-tool.ts'
import { timed } from './base/terminal.ts'
import { connectionStrings, kafkaPasswords } from './containers/project.ts'
import { ensureAccess, missingUsers } from './kafka/access.ts'
import { kafkaConnection } from './kafka/connection.ts'
import { ensureTopics, topics } from './kafka/topics.ts'
import { transactionsWarning } from './kafka/transactions.ts'
import { ensureDatabases, tablesUser } from './stores/databases.ts'
import { loginOf } from './stores/uri.ts'

// Constants stand above the statements that wait, because functions use them meanwhile.

/** MongoDB's codes for a replica set, and for a user, that exists already. */
const alreadyInitialized = 23
const alreadyExists = 51003

/** The codes of MongoDB, MongoDB Atlas and PostgreSQL for a user who may not create users. */
const denials: unknown[] = [13, 8000, '42501']

/** The answers of a Kafka that does not let its clients change users or rights. */
const refusals = [
  'CLUSTER_AUTHORIZATION_FAILED',
  'SECURITY_DISABLED',
  'UNSUPPORTED_VERSION',
  'UNSUPPORTED_SASL_MECHANISM',
]

// docker-compose.yml and the chart run this program before the sidecars start. Compose names the folder of the certificate:
// `node src/setup.ts CERTIFICATE_FOLDER`. Only Compose has a Kafka and a MongoDB of its own. In Kubernetes, both belong to others.
const [folder] = process.argv.slice(2)
const isOwn = folder !== undefined
const tell = timed()

/** Less than the deadline of the job in the chart, which removes the pod with its log. */
const deadlineMs = 180_000
let step = 'Kafka'
// A server that accepts connections and never answers would keep this program waiting.
setTimeout(() => {
  tell(`error: ${step} is not ready after ${deadlineMs / 1000} s`)
  process.exit(1)
}, deadlineMs).unref()

try {
  if (folder) {
    await localCertificate(folder)
    tell('certificate: ready')
  }
  const kafka = kafkaConnection(process.env)
  const passwords = Object.entries(kafkaPasswords).map(([user, variable]) => [user, required(variable)])
  const missing = await withRetries('Kafka', () => missingUsers(kafka).catch(explainRefusal))
  if (missing.length > 0) tell(`users: creating ${missing.join(', ')}`)
  const access = await withRetries('Kafka', () =>
    ensureAccess(kafka, Object.fromEntries(passwords), { isOwn }).catch(explainRefusal),
  )
  tell(`users and rights: ready (${access.added} rights added, ${access.removed} removed)`)
  const transactions = await withRetries('Kafka', () => transactionsWarning(kafka))
  if (transactions) tell(`warning: ${transactions}`)
  const warnings = await withRetries('Kafka', () => ensureTopics(kafka, topics.containers))
  for (const warning of warnings) tell(`warning: ${warning}`)
  tell('topics: ready')
  step = 'the store'
  const { State__ConnectionString: uri = '' } = process.env
  if (/^postgres(ql)?:/.test(uri)) {
    const passwords = storePasswords(tablesUser)
    await withRetries('PostgreSQL', () => ensureDatabases(uri, passwords).catch(explainDenial))
    tell('databases and their users: ready')
  } else if (uri) {
    const passwords = storePasswords((service) => service)
    if (isOwn) await withRetries('MongoDB', () => ensureReplicaSet(uri))
    await withRetries('MongoDB', () => ensureUsers(uri, passwords).catch(explainDenial))
    tell(`${isOwn ? 'replica set' : 'store'} and its users: ready`)
  }
} catch (error) {
  // Prints only the message, because other fields of a driver's error may contain secrets.
  tell(`error: ${(error as Error).message}`)
  if (error instanceof CliError && error.nextStep) tell(`next: ${error.nextStep}`)
  // A failed connection may stay open for a while, and its client may try again.
  process.exit(1)
}

/** @throws {CliError} `denied` with the next step, or the error itself if Kafka only fails for a while */
function explainRefusal(error: Error): never {
  if (isOwn) throw error
  const names = protocolErrors(error)
  if (names.includes('SASL_AUTHENTICATION_FAILED')) {
    throw new CliError('denied', `Kafka refuses the user ${process.env.Stream__SaslUsername} or the password`, {
      nextStep:
        'if Kafka has lost its users, create this user again. Otherwise delete the Secret operator-secrets, set Stream__SaslUsername and Stream__SaslPassword in .env or in the environment, then make up',
      cause: error,
    })
  }
  const isUnsupported = findErrorBy(error, 'code', 'PLT_KFK_UNSUPPORTED_API') !== null
  const reason = refusals.find((name) => names.includes(name)) ?? (isUnsupported ? error.message : undefined)
  if (!reason) throw error
  throw new CliError('denied', `this Kafka refuses the users and rights of services: ${reason}`, {
    nextStep:
      'let the user of operator-secrets change users and rights. Or set setup.enabled: false in kubernetes.yaml, and create topics and users yourself: ./orderflow acls prints the rights',
    cause: error,
  })
}

/** @throws {CliError} `denied` with the next step, or the error itself if the store only fails for a while */
function explainDenial(error: Error & { code?: unknown }): never {
  if (!denials.includes(error.code)) throw error
  throw new CliError('denied', `the store refuses to create the users of services: ${error.message}`, {
    nextStep:
      'let the user of State__ConnectionString in operator-secrets create users. Or, for MongoDB, remove this key and create the users yourself (docs/stores.md)',
    cause: error,
  })
}

/**
 * Returns the passwords in the URIs of sidecars, by service.
 * @throws {CliError} `settings` if a sidecar has the user of another program, who would have more rights than the service needs
 */
function storePasswords(userOf: (service: string) => string): Record<string, string> {
  const passwords = Object.entries(connectionStrings).map(([service, variable]): [string, string] => {
    const { user, password } = loginOf(required(variable))
    if (user === userOf(service)) return [service, password]
    throw new CliError('settings', `the sidecar of ${service} connects to its store as another user`, {
      nextStep: `let State__ConnectionString of the Secret ${service}-secrets name the user ${userOf(service)}, whom this program creates. Or delete this key, and make up`,
    })
  })
  return Object.fromEntries(passwords)
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

/**
 * Creates a user for each service, who may only read and write the database of the same name (components/mongodb).
 * @param uri the URI of a user who may create users
 * @param passwords the password of each user, by the service's name
 */
async function ensureUsers(uri: string, passwords: Readonly<Record<string, string>>): Promise<void> {
  const client = await MongoClient.connect(uri, { serverSelectionTimeoutMS: 30_000 })
  try {
    for (const [name, pwd] of Object.entries(passwords)) {
      const rights = { pwd, roles: [{ role: 'readWrite', db: name }] }
      await client
        .db('admin')
        .command({ createUser: name, ...rights })
        .catch((error: unknown) => {
          if (!(error instanceof MongoServerError) || error.code !== alreadyExists) throw error
          return client.db('admin').command({ updateUser: name, ...rights })
        })
    }
  } finally {
    await client.close()
  }
}
