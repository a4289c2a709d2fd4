import type { JsonSchema } from './types.ts'

/** Where the stream is, as `make up` starts it (docs/publishing.md). */
export const servers = {
  processes: {
    host: 'localhost:9092',
    protocol: 'kafka',
    description: 'Kafka as a process of one machine, on loopback: nobody is asked who he is.',
  },
  containers: {
    host: 'localhost:9092',
    protocol: 'kafka-secure',
    description: 'Kafka in containers, over TLS: an application outside has a user of its own (./orderflow publisher).',
    security: [{ $ref: '#/components/securitySchemes/scram' }],
  },
  gateway: {
    host: 'localhost:5020',
    pathname: '/v1/events',
    protocol: 'http',
    description:
      'event-gateway, for those without a Kafka client: POST /v1/events/{topic} takes one event, a list, or lines. Where access is closed it asks for an API key.',
  },
}

export const securitySchemes = {
  scram: {
    type: 'scramSha512',
    description: 'SASL_SSL with SCRAM-SHA-512: the user and password of ./orderflow publisher.',
  },
}

/** Headers of a record, all optional. */
export const headers: JsonSchema = {
  title: 'Headers of a record',
  type: 'object',
  properties: {
    traceparent: {
      title: 'Trace parent',
      description: 'W3C Trace Context. Its trace-id is the TraceId, without hyphens.',
      type: 'string',
      pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
    },
    tracestate: { title: 'Trace state', description: 'W3C Trace Context.', type: 'string' },
    signature: {
      title: 'Signature',
      description: 'Of services of the platform alone: the HMAC-SHA-256 of the value, in base64url.',
      type: 'string',
      pattern: '^[A-Za-z0-9_-]{43}$',
    },
  },
}
