import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { inDatabase, localPostgresql } from '@orderflow/stack'
import { dataFolder } from '@orderflow/stack/internals'
import { Pool } from 'pg'
import { type Store, storeOf } from '../network/store.ts'
import { median } from '../report/statistics.ts'
import type { BenchStack } from '../support/bench-stack.ts'
import { openStream, type Stream } from '../support/stream.ts'

export interface Site {
  stack: BenchStack
  stream: Stream
  store: Store
  tell: (line: string) => void
}

export async function withSite<Result>(
  stack: BenchStack,
  tell: Site['tell'],
  work: (site: Site) => Promise<Result>,
): Promise<Result> {
  const site = { stack, tell, stream: openStream(stack.kafka), store: storeOf(uriOf(stack)) }
  try {
    return await work(site)
  } finally {
    await site.stream.close()
    await site.store.close()
  }
}

const uriOf = ({ plan }: BenchStack) => localPostgresql(plan.folder, plan.ports.postgresql)

export interface StoreFigures {
  /** The median duration of a query. */
  queryMs: number
  /** The median duration of a commit that is synced to the disk. */
  commitMs: number
}

const commits = 200

export async function timesOfStore(stack: BenchStack, store: Store): Promise<StoreFigures> {
  const pool = new Pool({ connectionString: inDatabase(uriOf(stack), 'postgres'), max: 1 })
  const times: number[] = []
  for (let count = 0; count < commits; count += 1) {
    const begun = performance.now()
    await pool.query(`SELECT pg_logical_emit_message(true, 'bench', repeat('x', 1000))`)
    times.push(performance.now() - begun)
  }
  await pool.end()
  return { queryMs: await store.ping(store.address), commitMs: median(times) }
}

/** The bytes of both topics, of the store's write-ahead log, and of its databases. */
export type Bytes = Record<typeof orderEvents | typeof paymentEvents | 'storeLog' | 'databases', number>

export async function bytesOf({ stack }: Site): Promise<Bytes> {
  const pool = new Pool({ connectionString: inDatabase(uriOf(stack), 'postgres'), max: 1 })
  const { rows } = await pool.query<Pick<Bytes, 'storeLog' | 'databases'>>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float AS "storeLog",
      (SELECT sum(pg_database_size(oid))::float FROM pg_database) AS databases`,
  )
  await pool.end()
  const store = rows[0] ?? { storeLog: Number.NaN, databases: Number.NaN }
  return {
    [orderEvents]: bytesOfTopic(stack, orderEvents),
    [paymentEvents]: bytesOfTopic(stack, paymentEvents),
    ...store,
  }
}

/** Returns the bytes of a topic's records in the broker's log folder. */
function bytesOfTopic({ plan }: BenchStack, topic: string): number {
  const isSegment = new RegExp(`(^|/)${topic}-\\d+/\\d+\\.log$`)
  return readdirSync(dataFolder(plan.folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => isSegment.test(file))
    .reduce((sum, file) => sum + statSync(join(dataFolder(plan.folder), file)).size, 0)
}
