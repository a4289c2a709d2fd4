import { validateBytes } from '@orderflow/envelope'
import { recordAt } from '@orderflow/kafka-log'
import { invalid, pathId, type Route } from '@orderflow/service-kit'
import { currentAttempt, effectsIn, keptContent, keptRecord, replayedContent } from '@orderflow/service-kit/log'
import type { DryRunResult } from '../api/actions.ts'
import type { CheckResult, DeadLetterDetail, DeadLetterEntry, DeadLetterGroups } from '../api/dead-letters.ts'
import type { Page, RecordPosition } from '../api/events.ts'
import { changesBetween, documentIn, editableText, maskDocument } from '../model/masked.ts'
import type { Monitor } from '../monitor.ts'
import {
  attemptIn,
  attemptSchema,
  contentOf,
  corrected,
  editedIn,
  editedSchema,
  entryAt,
  entryOf,
  lost,
  originalOf,
  positionIn,
  refusalsOf,
} from './edited.ts'
import { detailOf } from './events.ts'
import { answer, eventBody, pageInputs, pageOf, textInput } from './requests.ts'

export function deadLetterRoutes(monitor: Monitor): Route[] {
  const { index } = monitor
  return [
    answer({
      path: '/v1/dead-letters',
      summary: 'List groups of dead letters',
      description:
        'A group has the dead letters with the same problem. Each failed record is counted once. `services` names the services that rejected its records.',
      input: {},
      async handle(): Promise<DeadLetterGroups> {
        const { groups, others } = await index.ask('deadLetterGroups')
        return { groups, others, open: groups.reduce((sum, { open }) => sum + open, 0), complete: index.completeness() }
      },
    }),
    answer({
      path: '/v1/dead-letters/entries',
      summary: 'List dead letters',
      description:
        'Each failed record is listed once, newest first. Pages stay complete while dead letters arrive and are replayed. `services` names the services that rejected its newest attempt, with the ids of their dead letters.',
      input: {
        group: textInput('group', 'The id of a group.'),
        state: textInput('state', '`open` or `replayed`.'),
        ...pageInputs,
      },
      async handle({ group, state, limit, cursor }): Promise<Page<DeadLetterEntry>> {
        if (state !== undefined && state !== 'open' && state !== 'replayed')
          throw invalid([{ pointer: 'state', detail: 'must be open or replayed' }])
        return pageOf(await index.ask('deadLetterPage', group, state, limit, cursor), index.completeness())
      },
    }),
    answer({
      path: '/v1/dead-letters/entries/{id}',
      summary: 'Get a dead letter',
      description: 'If several services rejected the record, `id` can be the id of any of their dead letters.',
      input: { id: pathId('id') },
      refusals: ['not-kept'],
      async handle({ id }): Promise<DeadLetterDetail> {
        const { entry, faults, view } = await entryOf(monitor, id)
        const { origin, position, arrivedAt, reason } = currentAttempt(entry)
        const value = (await contentOf(monitor, entry))?.value
        return {
          entry: view,
          attempt: position,
          faults,
          detail: faults[0]?.pointer ? null : (faults[0]?.message ?? null),
          editable: value ? (editableText(value) ?? null) : null,
          event: (await detailOf(monitor, position, arrivedAt)) ?? null,
          refusals: value
            ? refusalsOf(monitor, origin.topic, value, reason)
            : ['the event is no longer in the dead letter or in the log'],
        }
      },
    }),
  ]
}

const checkInput = eventBody(
  'CheckRequest',
  { edited: editedSchema, attempt: attemptSchema },
  ({ edited, attempt }) => ({ edited: editedIn(edited), attempt: attemptIn(attempt) }),
)

const dryRunInput = eventBody(
  'DryRunRequest',
  { position: { type: 'object' }, edited: editedSchema },
  ({ position, edited }) => {
    const found = positionIn(position)
    if (found) return { position: found, edited: editedIn(edited) }
    throw invalid([{ pointer: '/position', detail: 'must have a topic, a partition and an offset' }])
  },
)

export function checkRoutes(monitor: Monitor): Route[] {
  const { index, log, services } = monitor

  /**
   * Tries the record that a replay would publish, so that receivers derive the same ids.
   * @param position the position of the newest attempt, or of an event that no service has rejected
   */
  async function dryRun(
    position: RecordPosition,
    original: { value: Buffer; key: Buffer | undefined },
    edited: Buffer | undefined,
  ): Promise<DryRunResult> {
    const { value, key } = replayedContent(original, edited, position.topic)
    const record = {
      position,
      value: Buffer.from(value).toString('base64'),
      key: key?.toString('base64'),
      arrivedAt: Date.now(),
      isVouchedFor: true,
    }
    const attempts = await index.ask('attemptsAt', position)
    const keptBy = async (service: string) =>
      attempts.length > 0
        ? await log.read((reader) => keptRecord(reader, attempts, service))
        : keptContent(original.value, original.key)
    return { services: await effectsIn(services, record, keptBy) }
  }

  return [
    answer({
      method: 'post',
      path: '/v1/dead-letters/entries/{id}/check',
      scope: 'events:operate',
      summary: 'Check a dead letter before a replay',
      input: { id: pathId('id'), request: checkInput },
      refusals: ['not-kept', 'not-in-log', 'other-attempt'],
      async handle({ id, request: { edited, attempt } }): Promise<CheckResult> {
        const entry = attempt ? await entryAt(monitor, id, attempt) : (await entryOf(monitor, id)).entry
        const { origin, position, reason } = currentAttempt(entry)
        const original = await originalOf(monitor, entry)
        const change = edited === undefined ? undefined : corrected(edited, original.value)
        const value = change ?? original.value
        const refusals = refusalsOf(monitor, origin.topic, value, edited === undefined ? reason : undefined)
        const [before, after] = [original.value, value].map(
          (bytes) => maskDocument(documentIn(Buffer.from(bytes).toString()) ?? null).document,
        )
        return {
          isReady: refusals.length === 0,
          faults: validateBytes(value, 'receiver').errors,
          refusals,
          changes: edited === undefined ? [] : changesBetween(before, after),
          dryRun: refusals.length === 0 ? await dryRun(position, original, change) : null,
        }
      },
    }),
    answer({
      method: 'post',
      path: '/v1/dry-run',
      scope: 'events:operate',
      summary: 'Dry-run an event in all services',
      input: { request: dryRunInput },
      refusals: ['not-in-log'],
      async handle({ request: { position, edited } }): Promise<DryRunResult> {
        const record = await log.read((reader) => recordAt(reader, position))
        if (!record) throw lost()
        return dryRun(position, record, edited === undefined ? undefined : corrected(edited, record.value))
      },
    }),
  ]
}
