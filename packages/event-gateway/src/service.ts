import { defineService } from '@orderflow/service-kit'
import { readApplication } from '@orderflow/service-kit/application'
import { envelopesInput, exampleOf } from './body.ts'
import { contractFiles } from './contract.ts'
import { createGate } from './gate.ts'
import { envelopeRoutes, eventRoutes } from './routes.ts'

const root = new URL('..', import.meta.url)
const { topics, services } = readApplication(new URL('services.json', root))
const outside = topics.filter((topic) => topic.outside).map(({ name }) => name)
const events = Object.values(services).flatMap(({ produces }) => produces[outside[0] ?? ''] ?? [])

export const service = defineService({
  root,
  description:
    'Publishes events of applications without a Kafka client. The contract as a [page](../asyncapi), and as documents: [AsyncAPI](../asyncapi.json), [JSON Schemas](../schemas).',
  produces: outside,
  refusals: {
    'not-json': { status: 400, title: 'The body is not JSON' },
    'nothing-sent': { status: 400, title: 'The body has no envelope' },
    'nothing-accepted': { status: 400, title: 'No envelope was accepted' },
    'too-many-items': { status: 413, title: 'The body has too many envelopes' },
    'closed-topic': { status: 403, title: 'Outside applications may not write this topic' },
    'not-admitted': { status: 403, title: 'The publisher may not publish this event' },
    'unknown-topic': { status: 404, title: 'There is no such topic' },
  },
  problemMembers: {
    items: {
      type: 'array',
      items: { type: 'object' },
      description: 'The outcome of each envelope, as far as it is known.',
    },
  },
  create(context) {
    const envelopes = envelopesInput(exampleOf(events[0]))
    return {
      routes: [
        ...eventRoutes(createGate(context, topics), { all: topics.map(({ name }) => name), outside }, envelopes),
        ...envelopeRoutes(envelopes),
      ],
      files: contractFiles(),
      reactions: {},
      rebuild: {},
    }
  },
})
