import { fileURLToPath } from 'node:url'
import { defineService, type ServiceDefinition } from '@orderflow/service-kit'
import { readApplication } from '@orderflow/service-kit/application'
import { applicationFile } from '@orderflow/service-kit/setup'
import { envelopesInput, exampleOf } from './body.ts'
import { contractFiles } from './contract.ts'
import { createGate } from './gate.ts'
import { envelopeRoutes, eventRoutes } from './routes.ts'

/** Returns the gateway. @param root the folder of its appsettings.json, below the folder of services.json */
export function gatewayIn(root: URL): ServiceDefinition {
  const application = readApplication(applicationFile(fileURLToPath(root)))
  const { topics } = application
  const open = topics.filter(({ outside }) => outside.length > 0)
  const outside = open.map(({ name }) => name)
  return defineService({
    root,
    description:
      'Publishes events of applications without a Kafka client. The contract: [web page](../asyncapi), [AsyncAPI document](../asyncapi.json), [JSON Schemas](../schemas).',
    produces: outside,
    refusals: {
      'not-json': { status: 400, title: 'The body is not JSON' },
      'nothing-sent': { status: 400, title: 'The body contains no envelope' },
      'nothing-accepted': { status: 400, title: 'No envelope was accepted' },
      'too-many-items': { status: 413, title: 'The body has too many envelopes' },
      'closed-topic': { status: 403, title: 'Outside publishers may not write this topic' },
      'not-admitted': { status: 403, title: 'The publisher may not publish this event' },
      'unknown-topic': { status: 404, title: 'The topic does not exist' },
    },
    problemMembers: {
      items: {
        type: 'array',
        items: { type: 'object' },
        description: 'The outcome of each envelope. Absent if the gateway checked no envelope.',
      },
    },
    create(context) {
      const envelopes = envelopesInput(exampleOf(open[0]?.outside[0]))
      return {
        routes: [
          ...eventRoutes(createGate(context, application), { all: topics.map(({ name }) => name), outside }, envelopes),
          ...envelopeRoutes(envelopes),
        ],
        files: contractFiles(),
        reactions: {},
        rebuild: {},
      }
    },
  })
}

export const service = gatewayIn(new URL('..', import.meta.url))
