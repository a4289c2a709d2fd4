import { modes } from '@orderflow/envelope-schema'
import { type Input, type Model, queryWord, type Route, route } from '@orderflow/service-kit'
import type { Item } from '../domain/items.ts'
import { judge } from '../domain/judge.ts'
import { type Judged, judged } from './model.ts'

export function envelopeRoutes(envelopes: Input<Item[]>): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/envelopes/validate',
      scope: 'events:write',
      summary: 'Judge envelopes, and publish none',
      description:
        'One envelope or a list of them, or one on each line (`application/x-ndjson`). Says of each what is wrong, as the command line does.',
      input: {
        items: envelopes,
        mode: queryWord('mode', modes, {
          description: 'By whose rules: a publisher sends the full envelope, a receiver takes the reduced one, too.',
        }),
      },
      answers: { 200: 'What is said of each, in their order; right or wrong.' },
      body: judged as Model<{ mode: string; items: Judged[] }>,
      refusals: ['not-json', 'nothing-sent', 'too-many-items'],
      handle: async ({ items, mode }) => ({
        status: 200,
        body: { mode, items: items.map(({ text, ...place }) => ({ ...place, ...judge(text, mode) })) },
      }),
    }),
  ]
}
