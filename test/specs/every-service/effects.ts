import { send } from '@orderflow/chaos/clients/api'
import { createProducer, type OutsideRecord } from '@orderflow/chaos/clients/kafka'
import { createSigner, type SubjectEvent, signatureHeader } from '@orderflow/service-kit/testing'
import { eventually, type RunningStack, urlOf } from '@orderflow/stack'
import type { TestedService } from '../../support/tested-services.ts'

/** An event as its publisher writes it: signed, as one of a service of ours must be where services sign. Nobody minds with others. */
export function recordOf({ signingKeys }: RunningStack, { topic, key, envelope }: SubjectEvent): OutsideRecord {
  const value = Buffer.from(JSON.stringify(envelope))
  const signature = createSigner(signingKeys.split(',').filter(Boolean)).sign(value)
  return { topic, key, value, ...(signature && { headers: { [signatureHeader]: signature } }) }
}

/** Publishes events, one after the other, under their keys. */
export async function publish(stack: RunningStack, ...events: SubjectEvent[]): Promise<void> {
  const producer = createProducer(stack.kafka)
  for (const event of events) await producer.send(recordOf(stack, event))
  await producer.close()
}

/** Publishes an event again under each of the keys, or under none. */
export async function publishUnder(
  stack: RunningStack,
  event: SubjectEvent,
  keys: (string | undefined)[],
): Promise<void> {
  const producer = createProducer(stack.kafka)
  const { key: _, ...record } = recordOf(stack, event)
  await producer.send(...keys.map((key) => ({ ...record, ...(key !== undefined && { key }) })))
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
