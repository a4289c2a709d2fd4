import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Admin } from '@platformatic/kafka'
import './resets.ts'
import { repository } from '../lib/paths.ts'
import type { KafkaConnection } from './connection.ts'

export interface TopicSpec {
  name: string
  partitions: number
  /** The applications that must consume it, as scoped in components/subscriptions.yaml. */
  consumerGroups: string[]
  configs: Record<string, string>
}

/** The stream's topics: `stack/topics.json`. */
export const topics = JSON.parse(readFileSync(join(repository, 'stack/topics.json'), 'utf8')) as TopicSpec[]

/** Runs `work` with an administration client that never retries by itself. */
export async function withAdmin<Result>(
  kafka: KafkaConnection,
  work: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  const admin = new Admin({
    clientId: 'orderflow-stack',
    ...kafka,
    retries: 0,
    connectTimeout: 2_000,
    timeout: 5_000,
  })
  try {
    return await work(admin)
  } finally {
    await admin.close()
  }
}

/**
 * Creates the topics that are missing and returns a warning for each that exists with other partitions. Returns only when
 * the broker tells clients of all of them: a sidecar that asks too early consumes nothing until its next refresh.
 */
export async function ensureTopics(kafka: KafkaConnection, specs: TopicSpec[] = topics): Promise<string[]> {
  return await withAdmin(kafka, async (admin) => {
    const existing = new Set(await admin.listTopics())
    for (const { name, partitions, configs } of specs.filter((spec) => !existing.has(spec.name))) {
      const settings = Object.entries(configs).map(([key, value]) => ({ name: key, value }))
      // -1: as many replicas as the brokers make by default.
      await admin.createTopics({ topics: [name], partitions, replicas: -1, configs: settings })
    }
    const counts = await partitionCounts(admin, specs)
    return specs.flatMap(({ name, partitions }) => {
      const actual = counts.get(name)
      if (actual === partitions) return []
      return [`topic ${name} has ${actual} partitions, stack/topics.json says ${partitions}: make down clean up`]
    })
  })
}

async function partitionCounts(admin: Admin, specs: TopicSpec[]): Promise<Map<string, number>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { topics: found } = await admin.metadata({ topics: specs.map((spec) => spec.name), forceUpdate: true })
      return new Map([...found].map(([name, topic]) => [name, topic.partitionsCount]))
    } catch (error) {
      if (attempt === 100) throw error
      await sleep(50)
    }
  }
}
