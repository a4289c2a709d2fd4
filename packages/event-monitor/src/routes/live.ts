import type { Route, Streams } from '@orderflow/service-kit'
import type { Completeness, Facets, Me, Rates } from '../api/events.ts'
import type { Monitor } from '../monitor.ts'
import { answer, filterInput, nameOf, numberInput } from './requests.ts'
import { viewsInput } from './views-input.ts'

const scopes = ['events:read', 'events:operate', 'events:reveal', 'deadlines:read', 'deadlines:operate']
const weekSeconds = 7 * 24 * 60 * 60
const buckets = 120
/** The shortest step of `/v1/rates`: the length of a stored bucket (index/segment.ts). */
const finestMs = 5_000

export function liveRoutes({ index, views, now }: Monitor, streams: Streams): Route[] {
  return [
    answer({
      path: '/v1/me',
      summary: "Get the caller's scopes",
      input: {},
      handle: (_, context): Me => ({
        ...(context.caller && { id: nameOf(context) }),
        scopes: context.caller ? scopes.filter((scope) => context.caller?.scopes.has(scope)) : scopes,
        recordedAs: nameOf(context),
      }),
    }),
    streams.route({
      path: '/v1/live',
      scope: 'events:read',
      summary: 'Stream new events',
      description:
        'The messages are `hello`, `batch` and `job`. A batch has exact counts, and the newest rows of a tenth of a second. With several filters in `view`, each `hello` and `batch` has the index of its filter.',
      input: { filters: viewsInput },
      body: { name: 'LiveMessages', schema: { type: 'object' } },
      open({ filters }, send) {
        const closing = filters.map((filter, view) =>
          views.open(filter, (event, data) => {
            if (event === 'job') return view > 0 || send(event, data)
            return send(event, { ...(data as object), view })
          }),
        )
        return () => {
          for (const close of closing) close()
        }
      },
    }),
    answer({
      path: '/v1/completeness',
      summary: 'Get the completeness of the index',
      input: {},
      handle: (): Completeness => index.completeness(),
    }),
    answer({
      path: '/v1/facets',
      summary: 'Count events by property',
      input: { filter: filterInput },
      handle: async ({ filter }): Promise<Facets> => ({
        ...(await index.ask('facets', filter)),
        complete: index.completeness(),
      }),
    }),
    answer({
      path: '/v1/rates',
      summary: 'Count events by time',
      input: { filter: filterInput, seconds: numberInput('seconds', 60, weekSeconds, 600) },
      async handle({ filter, seconds }): Promise<Rates> {
        const step = Math.max(finestMs, Math.ceil((seconds * 1_000) / buckets / finestMs) * finestMs)
        const end = filter.to === undefined ? now().getTime() : Date.parse(filter.to)
        const to = Math.ceil(end / step) * step
        const from = to - Math.ceil((seconds * 1_000) / step) * step
        return { ...(await index.ask('rates', filter, from, to, step)), complete: index.completeness() }
      },
    }),
  ]
}
