import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deadLetterTopic, orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { paymentIdOf } from '@orderflow/payment-service/payment'
import { inDatabase, localPostgresql } from '@orderflow/stack'
import { repository } from '@orderflow/stack/base'
import { componentSettings, ensureLocalDatabases, type ProcessSpec, partitions } from '@orderflow/stack/internals'
import { Pool } from 'pg'
import type { BenchStack } from './bench-stack.ts'
import { type Peer, peers } from './peers.ts'
import { copyTopic } from './stream.ts'

export interface Contender {
  name: string
  /** The label of its program, which is the same with and without validation. */
  label: string
  /** True if it validates events by the schema, and publishes invalid events to the dead-letter topic of its input. */
  validates: boolean
  specs: ProcessSpec[]
  input: string
  topic: string
  consumerGroup: string
  /** Returns the key of an order’s payment in its store. */
  paymentOf: (orderId: string) => string
  stored: () => Promise<string[]>
  countStored: () => Promise<number>
}

/**
 * Runs `work` with all contenders: payment-service, then all peers without validation, then all peers with it. Each contender has its own
 * topics, consumer group and database.
 */
export async function withContenders<Result>(
  stack: BenchStack,
  work: (contenders: Contender[]) => Promise<Result>,
): Promise<Result> {
  const { folder, ports } = stack.plan
  const uri = localPostgresql(folder, ports.postgresql)
  const pools: Pool[] = []
  const poolOf = (name: string) => {
    const pool = new Pool({ connectionString: inDatabase(uri, name), max: 1 })
    // At the end, the server may close an idle connection before the pool does.
    pool.on('error', () => {})
    pools.push(pool)
    return pool
  }
  try {
    const contenders = [orderflow(stack, poolOf('payment-service'))]
    for (const validates of [false, true]) {
      for (const peer of peers) {
        const id = validates ? `${peer.name}-validating` : peer.name
        await ensureLocalDatabases(folder, ports.postgresql, [id])
        contenders.push(await contender(stack, uri, peer, { id, validates, pool: poolOf(id) }))
      }
    }
    return await work(contenders)
  } finally {
    await Promise.all(pools.map((pool) => pool.end()))
  }
}

function orderflow({ specOf }: BenchStack, pool: Pool): Contender {
  const payments = `FROM state WHERE key LIKE '%||payment/%'`
  return {
    name: 'orderflow',
    label: 'orderflow',
    validates: true,
    specs: [specOf('payment-service'), specOf('payment-sidecar')],
    input: orderEvents,
    topic: paymentEvents,
    consumerGroup: 'payment-service',
    paymentOf: paymentIdOf,
    ...questions(pool, `SELECT split_part(key, '/', 2) ${payments}`, `SELECT count(*) ${payments}`),
  }
}

async function contender(
  stack: BenchStack,
  uri: string,
  { label, command: [program, ...args] }: Peer,
  { id, validates, pool }: { id: string; validates: boolean; pool: Pool },
): Promise<Contender> {
  await pool.query(readFileSync(join(repository, 'tools/bench/compare/payments.sql'), 'utf8'))
  const [input, topic] = [`${id}-${orderEvents}`, `${id}-${paymentEvents}`]
  await copyTopic(stack.kafka, orderEvents, input)
  await copyTopic(stack.kafka, deadLetterTopic(orderEvents), deadLetterTopic(input))
  await copyTopic(stack.kafka, paymentEvents, topic)
  const { hostname, port, username, password } = new URL(uri)
  const env = {
    BROKER: stack.kafka.bootstrapBrokers[0] ?? '',
    INPUT: input,
    GROUP: id,
    TOPIC: topic,
    DEAD_LETTERS: deadLetterTopic(input),
    PARTITIONS: String(partitions.processes),
    SESSION_TIMEOUT_MS: String(sessionTimeoutMs()),
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: username,
    PGPASSWORD: password,
    PGDATABASE: id,
    PGSSLMODE: 'disable',
    ...(validates && { SCHEMA: join(repository, 'envelope-schema/bundled/OrderCreated.1.received.json') }),
  }
  return {
    name: validates ? `${label}, validating` : label,
    label,
    validates,
    specs: [{ name: id, command: program, args, env, ports: {} }],
    input,
    topic,
    consumerGroup: id,
    paymentOf: (orderId) => orderId,
    ...questions(pool, 'SELECT order_id::text FROM payment', 'SELECT count(*) FROM payment'),
  }
}

/** Returns a contender that stays in its consumer group while it is stopped between its rounds. */
export function patient(contender: Contender): Contender {
  const env = { SESSION_TIMEOUT_MS: '60000', Stream__SessionTimeout: '60s' }
  return { ...contender, specs: contender.specs.map((spec) => ({ ...spec, env: { ...spec.env, ...env } })) }
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
