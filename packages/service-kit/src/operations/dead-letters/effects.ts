import type { LogReader } from '@orderflow/kafka-log'
import { timeLimit } from '../../limits.ts'
import type { DryRunRecord, Verdict } from '../../runtime/dry-run/dry-run.ts'
import type { Attempt } from './entries.ts'
import { readEvent } from './records.ts'

/** A failed record of an event, with the names of the services that rejected it. */
export interface RejectedAttempt {
  attempt: Pick<Attempt, 'position' | 'deadLetterPosition' | 'arrivedAt'>
  rejectedBy: readonly string[]
}

export interface Consuming {
  name: string
  consumes: readonly string[]
  /** The address of the service's internal listener, and the token for dry runs. */
  dryRun: { url: string; token: string } | undefined
}

/** Returns the addresses and tokens in a text such as `a-service=http://host:port token,...`. */
export function dryRunsIn(text: string): Map<string, { url: string; token: string }> {
  const pairs = text.split(',').map((pair) => /^([^=]+)=(\S+) (\S+)$/.exec(pair))
  return new Map(pairs.flatMap((pair) => (pair ? [[pair[1] ?? '', { url: pair[2] ?? '', token: pair[3] ?? '' }]] : [])))
}

type Kept = NonNullable<DryRunRecord['kept']>

/** Asks each service that consumes the record's topic for the effects of the record. */
export async function effectsIn(
  services: readonly Consuming[],
  record: DryRunRecord,
  keptBy: (service: string) => Promise<Kept | undefined>,
): Promise<({ service: string } & Verdict)[]> {
  const consumers = services.filter(({ consumes }) => consumes.includes(record.position.topic))
  return await Promise.all(
    consumers.map(async ({ name, dryRun }) => {
      const kept = await keptBy(name)
      return { service: name, ...(await ask(dryRun, { ...record, ...(kept && { kept }) })) }
    }),
  )
}

/**
 * Returns the record that a service has accepted: of the attempts at one event, the first that the service has not rejected. Undefined if it has rejected
 * all, or if the log has deleted the record.
 */
export async function keptRecord(
  log: LogReader,
  attempts: readonly RejectedAttempt[],
  service: string,
): Promise<Kept | undefined> {
  const kept = attempts.find(({ rejectedBy }) => !rejectedBy.includes(service))
  const event = kept && (await readEvent(log, kept.attempt))
  return event?.value && keptContent(event.value, event.key)
}

export const keptContent = (value: Buffer, key: Buffer | undefined): Kept => ({
  value: value.toString('base64'),
  key: key?.toString('base64'),
})

const timeoutMs = 5_000

async function ask(dryRun: Consuming['dryRun'], record: DryRunRecord): Promise<Verdict> {
  if (!dryRun) return { result: 'unknown', why: 'the variable Monitor__DryRuns has no address of it' }
  try {
    const response = await fetch(`${dryRun.url}/dry-run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${dryRun.token}` },
      body: JSON.stringify(record),
      signal: AbortSignal.timeout(timeLimit(timeoutMs)),
    })
    if (response.ok) return (await response.json()) as Verdict
    return { result: 'unknown', why: `it answers with ${response.status}` }
  } catch {
    return { result: 'unknown', why: 'it does not answer' }
  }
}
