import { createSigner, type SubjectEvent, send, signatureHeader } from '@orderflow/service-kit/testing'
import { type RunningStack, urlOf } from '@orderflow/stack'
import { attempt, eventually } from '@orderflow/stack/base'
import { expect } from 'chai'
import { createProducer, type OutsideRecord, openLog } from '../kafka.ts'
import type { TestedService } from './tested-services.ts'

/** Returns the record that an event's publisher would write. It is signed if services sign events. */
export function recordOf({ signingKeys }: RunningStack, { topic, key, envelope }: SubjectEvent): OutsideRecord {
  const value = Buffer.from(JSON.stringify(envelope))
  const signature = createSigner(signingKeys.split(',').filter(Boolean)).sign(value)
  return {
    topic,
    ...(key !== undefined && { key }),
    value,
    ...(signature && { headers: { [signatureHeader]: signature } }),
  }
}

export async function publish(stack: RunningStack, ...events: SubjectEvent[]): Promise<void> {
  const producer = createProducer(stack.kafka)
  for (const event of events) await producer.send(recordOf(stack, event))
  await producer.close()
}

/** Publishes a copy of an event with each of the keys. Undefined means a record without a key. */
export async function publishUnder(
  stack: RunningStack,
  event: SubjectEvent,
  keys: (string | undefined)[],
): Promise<void> {
  const producer = createProducer(stack.kafka)
  const { key: _, ...record } = recordOf(stack, event)
  // biome-ignore lint/plugin/no-spread-arguments: a spec has about ten keys
  await producer.send(...keys.map((key) => ({ ...record, ...(key !== undefined && { key }) })))
  await producer.close()
}

export function effectOf({ name, subject }: TestedService, stack: RunningStack, event: SubjectEvent): Promise<unknown> {
  const url = urlOf(stack, name)
  return eventually(
    async () => await subject.effectOf(url, event),
    `the effect in ${name} of event ${event.envelope.Id}`,
  )
}

export async function listedIds({ name, parts }: TestedService, stack: RunningStack): Promise<string[]> {
  const ids: string[] = []
  const lists = parts.routes.map(({ operation }) => operation).filter(({ body }) => body.name.endsWith('Page'))
  for (const { path } of lists) {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor ? `&cursor=${cursor}` : ''
      const url = `${urlOf(stack, name)}${path}?limit=100${query}`
      const { body } = await send<{ items: { id: string }[]; next: string | null }>(url)
      for (const { id } of body.items) ids.push(id)
      cursor = body.next
    }
  }
  return ids
}

interface Announcement {
  AppName?: string
  Headers?: { CausationId?: string }
}

/** Expects that all announcements of an event have the same bytes. */
export async function expectAnnouncedOnce(
  { name, produces }: TestedService,
  stack: RunningStack,
  events: SubjectEvent[],
): Promise<void> {
  if (produces.length === 0) return
  const log = await openLog(stack.kafka, produces)
  try {
    await log.caughtUp()
    const causes = new Set(events.map(({ envelope }) => envelope.Id))
    const told = new Map<string, Set<string>>()
    for (const { value } of log.records) {
      const envelope = attempt((): Announcement => JSON.parse(value.toString()))
      const cause = envelope?.Headers?.CausationId ?? ''
      if (envelope?.AppName === name && causes.has(cause))
        told.set(cause, (told.get(cause) ?? new Set()).add(value.toString()))
    }
    for (const [cause, texts] of told) expect([...texts], `announcements of ${cause}`).to.have.length(1)
  } finally {
    await log.close()
  }
}
