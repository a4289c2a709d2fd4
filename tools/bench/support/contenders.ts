import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  componentSettings,
  ensureDatabases,
  inDatabase,
  type ProcessSpec,
  partitions,
  repository,
} from '@orderflow/cli'
import { paymentEvents } from '@orderflow/envelope-schema'
import { paymentIdOf } from '@orderflow/payment-service/store'
import { Pool } from 'pg'
import type { BenchStack } from './bench-stack.ts'
import { type Peer, peers } from './peers.ts'
import { copyTopic } from './stream.ts'

export interface Contender {
  name: string
  specs: ProcessSpec[]
  topic: string
  consumerGroup: string
  /** Returns the key of an order’s payment in its store. */
  paymentOf: (orderId: string) => string
  stored: () => Promise<string[]>
  countStored: () => Promise<number>
}

/** Runs `work` with all contenders, payment-service first. Each of the other contenders gets a database and a topic. */
export async function withContenders<Result>(
  stack: BenchStack,
  work: (contenders: Contender[]) => Promise<Result>,
): Promise<Result> {
  const uri = stack.specOf('payment-sidecar').env.State__ConnectionString ?? ''
  const names = peers.map(({ name }) => name)
  await ensureDatabases(uri, names)
  const pools = ['payment-service', ...names].map(
    (name) => new Pool({ connectionString: inDatabase(uri, name), max: 1 }),
  )
  const [ours, ...theirs] = pools as [Pool, ...Pool[]]
  try {
    const others = theirs.map((pool, index) => contender(stack, uri, peers[index] as Peer, pool))
    return await work([orderflow(stack, ours), ...(await Promise.all(others))])
  } finally {
    await Promise.all(pools.map((pool) => pool.end()))
  }
}

function orderflow({ specOf }: BenchStack, pool: Pool): Contender {
  const payments = `FROM state WHERE key LIKE '%||payment/%'`
  return {
    name: 'orderflow',
    specs: [specOf('payment-service'), specOf('payment-sidecar')],
    topic: paymentEvents,
    consumerGroup: 'payment-service',
    paymentOf: paymentIdOf,
    ...questions(pool, `SELECT split_part(key, '/', 2) ${payments}`, `SELECT count(*) ${payments}`),
  }
}

async function contender(
  stack: BenchStack,
  uri: string,
  { name, label, command }: Peer,
  pool: Pool,
): Promise<Contender> {
  await pool.query(readFileSync(join(repository, 'tools/bench/compare/payments.sql'), 'utf8'))
  const topic = `${name}-${paymentEvents}`
  await copyTopic(stack.kafka, paymentEvents, topic)
  const [program, ...args] = command
  const { hostname, port, username, password } = new URL(uri)
  const env = {
    BROKER: stack.kafka.bootstrapBrokers[0] ?? '',
    TOPIC: topic,
    PARTITIONS: String(partitions.processes),
    SESSION_TIMEOUT_MS: String(sessionTimeoutMs()),
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: username,
    PGPASSWORD: password,
    PGDATABASE: name,
    PGSSLMODE: 'disable',
  }
  return {
    name: label,
    specs: [{ name: `${name}-payments`, command: program, args, env, ports: {} }],
    topic,
    consumerGroup: `${name}-payments`,
    paymentOf: (orderId) => orderId,
    ...questions(pool, 'SELECT order_id::text FROM payment', 'SELECT count(*) FROM payment'),
  }
}

/** Returns payment-service’s session timeout, which all contenders use. After this time, Kafka reassigns a killed program’s partitions. */
function sessionTimeoutMs(): number {
  return (
    Number.parseFloat(componentSettings(join(repository, 'payment-service'), {}).Stream__SessionTimeout ?? '') * 1_000
  )
}

/** Queries a sidecar’s database, which has no table before the sidecar’s first start. */
function questions(pool: Pool, all: string, count: string): Pick<Contender, 'stored' | 'countStored'> {
  const ask = (text: string) =>
    pool.query<[string]>({ text, rowMode: 'array' }).then(
      ({ rows }) => rows.map(([value]) => value),
      (error: Error & { code?: string }) => {
        if (error.code === undefinedTable) return []
        throw error
      },
    )
  return { stored: () => ask(all), countStored: async () => Number((await ask(count))[0] ?? 0) }
}

const undefinedTable = '42P01'
