import { readFileSync } from 'node:fs'
import type { Publishers } from '../trust/trust.ts'

/** The service that publishes to a topic, as its envelopes say. */
export function publisherOf(topic: string): { id: string; name: string } {
  const file = new URL('../../../../components/trust/publishers.json', import.meta.url)
  const { services } = JSON.parse(readFileSync(file, 'utf8')) as Publishers
  const [id, service] = Object.entries(services).find(([, { publishes }]) => topic in publishes) ?? []
  if (!id || !service) throw new Error(`no service publishes to ${topic}`)
  return { id, name: service.name }
}
