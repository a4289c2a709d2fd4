import { pathId, type Route } from '@orderflow/service-kit'
import type { EventDetail, EventRow, Fixture, Places } from '../api/events.ts'
import type { Page } from '../api/truth.ts'
import { fixtureOf } from '../model/fixture.ts'
import type { Monitor } from '../monitor.ts'
import { MonitorError } from '../monitor-error.ts'
import { answer } from './answer.ts'
import { detailOf } from './detail.ts'
import { filterInput, pageInputs, placeInput } from './inputs.ts'

export const notKept = (what: string) =>
  new MonitorError('not-kept', `There is no ${what} here: older than what is kept, not indexed yet, or never there.`)

export function eventRoutes(monitor: Monitor): Route[] {
  const { index } = monitor
  return [
    answer({
      path: '/v1/events',
      summary: 'List events, newest first',
      input: {
        filter: filterInput,
        ...pageInputs,
      },
      async handle({ filter, limit, cursor }): Promise<Page<EventRow>> {
        const { items, next, total, isAtLeast } = await index.ask('events', filter, limit, cursor)
        return {
          items,
          next: next === null ? null : String(next),
          complete: { ...index.truth(), shown: items.length, total, isAtLeast },
        }
      },
    }),
    answer({
      path: '/v1/events/{topic}/{partition}/{offset}',
      summary: 'Get an event',
      input: { place: placeInput },
      refusals: ['not-kept'],
      async handle({ place }): Promise<EventDetail> {
        const found = await detailOf(monitor, place)
        if (found) return found
        throw notKept('event')
      },
    }),
    answer({
      path: '/v1/events/{topic}/{partition}/{offset}/fixture',
      summary: 'Get an event as a fixture',
      input: { place: placeInput },
      refusals: ['not-kept'],
      async handle({ place }): Promise<Fixture> {
        const found = await index.ask('event', place)
        if (!found) throw notKept('event')
        const { name, validity } = found.row
        return fixtureOf({ name, validity, body: found.body, place })
      },
    }),
    answer({
      path: '/v1/ids/{id}',
      summary: 'Find events by Id',
      input: { id: pathId('id') },
      refusals: ['not-kept'],
      async handle({ id }): Promise<Places> {
        const places = await index.ask('places', id)
        if (places.length > 0) return { places, complete: index.truth() }
        throw notKept(`event ${id}`)
      },
    }),
  ]
}
