import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { applicationFile } from '../application/file.ts'
import type { Publishers, TrustFile } from '../trust/trust.ts'

/**
 * Returns an application that may publish an event: a service, a listed application, or an unlisted application.
 * @throws {Error} if trust.json accepts only listed applications, and no application is listed for the event
 */
export function publisherOf(event: string): { id: string; name: string } {
  const { services } = read<Publishers>('publishers.json')
  const { publishers, unlisted } = read<TrustFile>('trust.json')
  const known = [
    ...Object.entries(services).map(([id, { name, publishes }]) => ({ id, name, topics: publishes })),
    ...Object.entries(publishers).map(([id, { name, topics }]) => ({ id, name, topics })),
  ]
  const found = known.find(({ topics }) => Object.values(topics).flat().includes(event))
  if (found) return { id: found.id, name: found.name }
  if (unlisted === 'accept') return { id: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b', name: 'older-application' }
  throw new Error(`components/trust/trust.json lists no application that publishes ${event}`)
}

function read<File>(name: string): File {
  const folder = join(dirname(applicationFile(import.meta.dirname)), 'components/trust')
  return JSON.parse(readFileSync(join(folder, name), 'utf8')) as File
}
