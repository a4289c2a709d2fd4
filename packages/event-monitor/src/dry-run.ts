import type { Tried, TriedRecord } from '@orderflow/service-kit'
import type { ServiceVerdict } from './api/events.ts'
import type { WatchedService } from './services.ts'

const timeoutMs = 5_000

/** What each service that consumes a topic would do with a record now: asked of the services themselves. */
export async function tryRecord(record: TriedRecord, services: readonly WatchedService[]): Promise<ServiceVerdict[]> {
  const consumers = services.filter(({ consumes }) => consumes.includes(record.place.topic))
  return await Promise.all(consumers.map(async (one) => ({ service: one.name, ...(await ask(one, record)) })))
}

async function ask({ dryRun }: WatchedService, record: TriedRecord): Promise<Tried> {
  if (!dryRun) return { result: 'unknown', why: 'nobody said where it can be asked: set Monitor__DryRuns' }
  try {
    const response = await fetch(`${dryRun.url}/dry-run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${dryRun.token}` },
      body: JSON.stringify(record),
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (response.ok) return (await response.json()) as Tried
    return { result: 'unknown', why: `it answers with ${response.status}` }
  } catch {
    return { result: 'unknown', why: 'it does not answer' }
  }
}
