import { type KafkaConnection, openLog, withAdmin } from '@orderflow/kafka-log'
import { lastDeadlines, retentionOf } from '@orderflow/service-kit/log'
import { hasClock, services } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { changeTopics } from './topic-settings.ts'

/** A `retention.ms` without limit. */
export const forever = -1

export const dayMs = 24 * 60 * 60 * 1_000

/**
 * Sets the retention, and waits until all brokers report it. The broker deletes only whole segments. With segments of one day instead of one week, it
 * deletes events at most one day late.
 * @param keptMs milliseconds, or `forever`
 */
export async function keepFor(kafka: KafkaConnection, names: readonly string[], keptMs: number): Promise<void> {
  const segment = keptMs === forever ? undefined : String(dayMs)
  const settings = { 'retention.ms': String(keptMs), 'segment.ms': segment }
  await changeTopics(kafka, new Map(names.map((name) => [name, settings])))
}

/**
 * Checks that a retention is not shorter than the time until the last open deadline. Otherwise a rebuild would lose the entity and its deadline.
 * @throws {CliError} `usage`
 */
export async function requireDeadlinesKept(kafka: KafkaConnection, keptMs: number): Promise<void> {
  if (keptMs === forever || !services.some(hasClock)) return
  const log = openLog(kafka)
  try {
    const now = new Date()
    for (const [service, last] of await lastDeadlines(log, now)) {
      const days = Math.ceil((last - now.getTime()) / dayMs)
      if (days * dayMs <= keptMs) continue
      throw new CliError('usage', `${service} has a deadline in ${days} days, and a rebuild would lose it`, {
        nextStep: `./orderflow retention --days ${days}, or more`,
      })
    }
  } finally {
    await log.close()
  }
}

/** Returns the retention of each topic in milliseconds, or `forever`. */
export const keptFor = (kafka: KafkaConnection, names: readonly string[]): Promise<Map<string, number>> =>
  withAdmin(kafka, (admin) => retentionOf(admin, names))
