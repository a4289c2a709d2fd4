import {
  type Answer,
  type Input,
  idempotencyKey,
  type Model,
  pathWord,
  type Route,
  route,
  UncertainError,
} from '@orderflow/service-kit'
import { GatewayError } from '../domain/gateway-error.ts'
import type { Item } from '../domain/items.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { Gate, Published } from '../gate.ts'
import { outcomes } from './model.ts'

/**
 * @param topics all topics, and those that applications outside may write
 * @param envelopes the body of a request
 */
export function eventRoutes(
  gate: Gate,
  topics: { known: readonly string[]; outside: readonly string[] },
  envelopes: Input<Item[]>,
): Route[] {
  function requireOutside(topic: string): void {
    if (topics.outside.includes(topic)) return
    const others = `Others write ${topics.outside.join(', ')}.`
    if (topics.known.includes(topic))
      throw new GatewayError('closed-topic', `Only a service of ours writes this one. ${others}`)
    throw new GatewayError('unknown-topic', `There is no such topic. ${others}`)
  }

  const [example] = topics.outside
  return [
    route({
      method: 'post',
      path: '/v1/events/{topic}',
      scope: 'events:write',
      summary: 'Publish one envelope, a list of them, or one on each line',
      description:
        'For publishers without a Kafka client. Each envelope is judged by itself and, if it is right and its application may say it, ' +
        'published as it came, with the ids that it lacks written into it. At most 1,000 envelopes and 4 MiB, each of 255 KiB.',
      input: {
        topic: pathWord('topic', { description: 'Where applications outside publish.', ...(example && { example }) }),
        items: envelopes,
        idempotencyKey: idempotencyKey({
          description:
            'Tells identical reduced envelopes apart: the same bytes with the same key are one event, with another key another one. Envelopes with an Id need none.',
        }),
      },
      answers: {
        202: 'All of them are in the log.',
        207: 'Some of them are in the log; `items` says which, and why the others are not.',
      },
      body: outcomes as Model<{ items: Outcome[] }>,
      refusals: [
        'not-json',
        'nothing-sent',
        'nothing-accepted',
        'too-many-items',
        'closed-topic',
        'not-admitted',
        'unknown-topic',
      ],
      async handle({ topic, items, idempotencyKey }, { caller }) {
        requireOutside(topic)
        return answerOf(await gate.publish(topic, items, { caller, idempotencyKey }))
      },
    }),
  ]
}

function answerOf({ outcomes: items, cause }: Published): Answer<202 | 207, { items: Outcome[] }> {
  const of = (...kinds: Outcome['outcome'][]) => items.filter(({ outcome }) => kinds.includes(outcome)).length
  if (of('unknown', 'unsent') > 0) {
    const detail = `Of ${items.length} envelopes ${of('accepted')} are in the log, ${of('refused')} are refused, ${of('unsent')} were not sent, and of ${of('unknown')} nobody knows. Send those again that are neither in the log nor refused; items says what that does.`
    throw new UncertainError(detail, { details: { items }, cause })
  }
  if (of('refused') === 0) return { status: 202, body: { items } }
  if (of('accepted') > 0) return { status: 207, body: { items } }
  const detail = 'None of them was published; items says why.'
  const isDistrust = items.every(({ code }) => code === 'untrusted')
  throw new GatewayError(isDistrust ? 'not-admitted' : 'nothing-accepted', detail, { items })
}
