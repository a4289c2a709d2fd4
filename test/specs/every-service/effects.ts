import { send } from '@orderflow/chaos/clients/api'
import { createProducer } from '@orderflow/chaos/clients/kafka'
import type { SubjectEvent } from '@orderflow/service-kit/testing'
import { eventually, type RunningStack, urlOf } from '@orderflow/stack'
import type { TestedService } from '../../support/tested-services.ts'

/** Publishes events, one after the other, under their keys. */
export async function publish(stack: RunningStack, ...events: SubjectEvent[]): Promise<void> {
  const producer = createProducer(stack.kafka)
  for (const { topic, key, envelope } of events) await producer.send({ topic, key, value: JSON.stringify(envelope) })
  await producer.close()
}

/** Publishes an event again under each of the keys, or under none. */
export async function publishUnder(
  stack: RunningStack,
  { topic, envelope }: SubjectEvent,
  keys: (string | undefined)[],
): Promise<void> {
  const producer = createProducer(stack.kafka)
  const value = JSON.stringify(envelope)
  await producer.send(...keys.map((key) => ({ topic, value, ...(key !== undefined && { key }) })))
  await producer.close()
}

/** What came of an event in a service, once it did. */
export function effectOf({ name, subject }: TestedService, stack: RunningStack, event: SubjectEvent): Promise<unknown> {
  const url = urlOf(stack, name)
  return eventually(async () => await subject.effectOf(url, event), `what ${name} makes of ${event.key}`)
}

/** Ids of all that a service lists. */
export async function listedIds({ name, parts }: TestedService, stack: RunningStack): Promise<string[]> {
  const ids: string[] = []
  const lists = parts.routes.map(({ operation }) => operation).filter(({ body }) => body.name.endsWith('Page'))
  for (const { path } of lists) {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor ? `&cursor=${cursor}` : ''
      const url = `${urlOf(stack, name)}${path}?limit=100${query}`
      const { body } = await send<{ items: { id: string }[]; next: string | null }>(url)
      ids.push(...body.items.map(({ id }) => id))
      cursor = body.next
    }
  }
  return ids
}
