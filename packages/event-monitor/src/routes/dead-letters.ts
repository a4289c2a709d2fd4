import { invalid, pathId, type Route } from '@orderflow/service-kit'
import { currentAttempt } from '@orderflow/service-kit/log'
import type { DeadLetterDetail, DeadLetterEntry, DeadLetterGroups } from '../api/dead-letters.ts'
import type { Page } from '../api/truth.ts'
import { editableText } from '../model/edited.ts'
import type { Monitor } from '../monitor.ts'
import { answer } from './answer.ts'
import { bytesOf, entryOf, refusalsOf } from './dead-letter.ts'
import { detailOf } from './detail.ts'
import { pageInputs, textInput } from './inputs.ts'

export function deadLetterRoutes(monitor: Monitor): Route[] {
  const { index } = monitor
  return [
    answer({
      path: '/v1/dead-letters',
      summary: 'List dead letters by what is wrong with them',
      description: 'A record counts once, however many services rejected it. `services` names them.',
      input: {},
      async handle(): Promise<DeadLetterGroups> {
        const { groups, others } = await index.ask('deadLetterGroups')
        return { groups, others, open: groups.reduce((sum, { open }) => sum + open, 0), complete: index.truth() }
      },
    }),
    answer({
      path: '/v1/dead-letters/entries',
      summary: 'List dead letters',
      description:
        'Each record is listed once. `services` names the services that rejected its newest attempt, each with the id of its own dead letter.',
      input: {
        group: textInput('group', 'The id of a group.'),
        state: textInput('state', '`open` or `resent`.'),
        ...pageInputs,
      },
      async handle({ group, state, limit, cursor: begin = 0 }): Promise<Page<DeadLetterEntry>> {
        if (state !== undefined && state !== 'open' && state !== 'resent')
          throw invalid([{ pointer: 'state', detail: 'is open or resent' }])
        const all = await index.ask('deadLetterEntries', group, state)
        const items = all.slice(begin, begin + limit)
        const next = begin + limit < all.length ? String(begin + limit) : null
        return { items, next, complete: { ...index.truth(), shown: items.length, total: all.length, isAtLeast: false } }
      },
    }),
    answer({
      path: '/v1/dead-letters/entries/{id}',
      summary: 'Get a dead letter',
      description: 'The id of the dead letter of each service that rejected the record finds it.',
      input: { id: pathId('id') },
      refusals: ['not-kept'],
      async handle({ id }): Promise<DeadLetterDetail> {
        const { entry, faults, view } = await entryOf(monitor, id)
        const { origin, place, arrivedAt, reason } = currentAttempt(entry)
        const value = await bytesOf(monitor, entry)
        return {
          entry: view,
          attempt: place,
          faults,
          detail: faults[0]?.pointer ? null : (faults[0]?.message ?? null),
          editable: value ? (editableText(value) ?? null) : null,
          event: (await detailOf(monitor, place, arrivedAt)) ?? null,
          refusals: value
            ? refusalsOf(monitor, origin.topic, value, reason)
            : ['neither the dead letter nor the log has the event any more'],
        }
      },
    }),
  ]
}
