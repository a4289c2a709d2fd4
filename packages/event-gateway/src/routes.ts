import { modes } from '@orderflow/envelope'
import {
  type Answer,
  guidText,
  type Input,
  idempotencyKey,
  type Model,
  model,
  pathWord,
  queryWord,
  Refused,
  type Route,
  route,
  text,
  UncertainError,
} from '@orderflow/service-kit'
import type { Item } from './body.ts'
import type { Gate, Published } from './gate.ts'
import { judge, type Outcome } from './judge.ts'

/** @param topics all topics, and those that outside publishers may write */
export function eventRoutes(
  gate: Gate,
  topics: { all: readonly string[]; outside: readonly string[] },
  envelopes: Input<Item[]>,
): Route[] {
  function requireOutside(topic: string): void {
    if (topics.outside.includes(topic)) return
    const others = `Outside publishers may write ${topics.outside.join(', ')}.`
    if (topics.all.includes(topic))
      throw new Refused('closed-topic', `Only our own services write this topic. ${others}`)
    throw new Refused('unknown-topic', `This topic does not exist. ${others}`)
  }

  const [example] = topics.outside
  return [
    route({
      method: 'post',
      path: '/v1/events/{topic}',
      scope: 'events:write',
      summary: 'Publish one envelope, a list of envelopes, or one on each line',
      description:
        'For publishers without a Kafka client. Each envelope is validated separately. A valid envelope is published if its application may publish it. ' +
        'The gateway adds only missing ids. Limits: 1,000 envelopes and 4 MiB for a request, 255 KiB for an envelope.',
      input: {
        topic: pathWord('topic', {
          description: 'A topic that outside publishers may write.',
          ...(example && { example }),
        }),
        items: envelopes,
        idempotencyKey: idempotencyKey({
          description:
            'Distinguishes identical reduced envelopes. The same bytes with the same key are one event; with another key they are a new event. Envelopes with an Id need no key.',
        }),
      },
      answers: {
        202: 'All envelopes are in the log.',
        207: 'Some envelopes are in the log; `items` lists the outcome of each.',
      },
      body: outcomes,
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
    const detail = `Of ${items.length} envelopes ${of('accepted')} are in the log, ${of('refused')} are refused, ${of('unsent')} were not sent, and ${of('unknown')} are unknown. Send the unsent and unknown ones again: see retry in items.`
    throw new UncertainError(detail, { details: { items }, cause })
  }
  if (of('refused') === 0) return { status: 202, body: { items } }
  if (of('accepted') > 0) return { status: 207, body: { items } }
  const detail = 'No envelope was published: see errors in items.'
  const isDistrust = items.every(({ code }) => code === 'untrusted')
  throw new Refused(isDistrust ? 'not-admitted' : 'nothing-accepted', detail, { items })
}

export function envelopeRoutes(envelopes: Input<Item[]>): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/envelopes/validate',
      scope: 'events:write',
      summary: 'Validate envelopes without publishing them',
      description:
        'Accepts one envelope, a list, or one envelope per line (`application/x-ndjson`). Returns the problems of each envelope, as `envelope validate` does.',
      input: {
        items: envelopes,
        mode: queryWord('mode', modes, {
          description:
            'The rules to apply: publishers must send full envelopes, receivers also accept reduced envelopes.',
        }),
      },
      answers: { 200: 'The verdict on each envelope, in order.' },
      body: judged,
      refusals: ['not-json', 'nothing-sent', 'too-many-items'],
      handle: async ({ items, mode }) => ({
        status: 200,
        body: { mode, items: items.map(({ text, ...item }) => ({ ...item, ...judge(text, mode) })) },
      }),
    }),
  ]
}

const number = { type: 'integer' }

const problems = {
  type: 'array',
  items: {
    type: 'object',
    properties: { pointer: text, message: text, hint: text },
    description: 'JSON pointer into the envelope, the problem there, and its correction.',
  },
}

const itemFields = {
  index: { ...number, description: 'Index in the body, from 0.' },
  line: { ...number, description: 'Line number from 1, if the body has one envelope per line.' },
}

const verdictFields = {
  variant: {
    ...text,
    nullable: true,
    enum: ['full', 'reduced', null],
    description: 'The variant of the envelope; null if it is not an envelope.',
  },
  code: { ...text, description: 'A code of the reason. Programs can use it, because it stays the same.' },
  errors: problems,
  warnings: problems,
}

const listOf = <T>(item: Model<T>) => ({ type: 'array', items: item.schema })

const outcomes = model<{ items: Outcome[] }>('Outcomes', {
  items: listOf(
    model<Outcome>('Outcome', {
      ...itemFields,
      outcome: {
        ...text,
        enum: ['accepted', 'refused', 'unsent', 'unknown'],
        description:
          'accepted: in the log. refused, unsent: not in the log. unknown: may be in the log. An unsent or unknown envelope can be sent again.',
      },
      id: {
        ...guidText,
        nullable: true,
        description:
          'The Id in the envelope, or the derived Id that was added; null for a refused envelope without Id.',
      },
      ...verdictFields,
      retry: { ...text, description: 'The effect of sending the envelope again.' },
    }),
  ),
})

export interface Judged extends Pick<Outcome, 'index' | 'line' | 'variant' | 'code' | 'errors' | 'warnings'> {
  valid: boolean
}

const judged = model<{ mode: string; items: Judged[] }>('Verdicts', {
  mode: { ...text, enum: modes },
  items: listOf(model<Judged>('Verdict', { ...itemFields, valid: { type: 'boolean' }, ...verdictFields })),
})
