import { validateBytes } from '@orderflow/envelope-schema'
import { invalid, pathId, type Route } from '@orderflow/service-kit'
import { currentAttempt, recordAt } from '@orderflow/service-kit/log'
import type { CheckResult } from '../api/dead-letters.ts'
import type { DryRunResult, Place } from '../api/events.ts'
import { tryRecord } from '../dry-run.ts'
import { documentIn } from '../model/document.ts'
import { changesBetween } from '../model/edited.ts'
import { maskDocument } from '../model/masked.ts'
import type { Monitor } from '../monitor.ts'
import { answer } from './answer.ts'
import { entryAt, entryOf, lost, originalOf, refusalsOf } from './dead-letter.ts'
import { attemptIn, attemptSchema, editedIn, editedSchema, mended } from './edit.ts'
import { eventBody } from './inputs.ts'

const checkInput = eventBody(
  'CheckRequest',
  { edited: editedSchema, attempt: attemptSchema },
  ({ edited, attempt }) => ({ edited: editedIn(edited), attempt: attemptIn(attempt) }),
)

const dryRunInput = eventBody(
  'DryRunRequest',
  { place: { type: 'object' }, edited: editedSchema },
  ({ place, edited }) => {
    const { topic, partition, offset } = Object(place) as Partial<Place>
    if (
      typeof topic === 'string' &&
      typeof partition === 'number' &&
      typeof offset === 'string' &&
      /^\d{1,15}$/.test(offset)
    ) {
      return { place: { topic, partition, offset }, edited: editedIn(edited) }
    }
    throw invalid([{ pointer: '/place', detail: 'has a topic, a partition and an offset' }])
  },
)

/** What would come of an event, as it is or edited. Nothing is changed by asking. */
export function mendingRoutes(monitor: Monitor): Route[] {
  const { log, services } = monitor

  async function dryRun(place: Place, value: Uint8Array, keyBytes?: Buffer): Promise<DryRunResult> {
    const key = keyBytes?.toString('base64')
    const record = {
      place,
      value: Buffer.from(value).toString('base64'),
      key,
      arrivedAt: Date.now(),
      isVouchedFor: true,
    }
    return { services: await tryRecord(record, services) }
  }

  return [
    answer({
      method: 'post',
      path: '/v1/dead-letters/entries/{id}/check',
      scope: 'events:operate',
      summary: 'Check a dead letter before it is resent',
      input: { id: pathId('id'), asked: checkInput },
      refusals: ['not-kept', 'not-in-log', 'other-attempt'],
      async handle({ id, asked: { edited, attempt } }): Promise<CheckResult> {
        const entry = attempt ? await entryAt(monitor, id, attempt) : (await entryOf(monitor, id)).entry
        const { origin, reason } = currentAttempt(entry)
        const original = await originalOf(monitor, entry)
        const value = edited === undefined ? original : mended(edited, original)
        const refusals = refusalsOf(monitor, origin.topic, value, edited === undefined ? reason : undefined)
        const [before, after] = [original, value].map(
          (bytes) => maskDocument(documentIn(Buffer.from(bytes).toString()) ?? null).document,
        )
        return {
          isReady: refusals.length === 0,
          faults: validateBytes(value, 'receiver').errors,
          refusals,
          changes: edited === undefined ? [] : changesBetween(before, after),
          dryRun: refusals.length === 0 ? await dryRun(origin, value) : null,
        }
      },
    }),
    answer({
      method: 'post',
      path: '/v1/dry-run',
      scope: 'events:operate',
      summary: 'Ask services what they would do with an event',
      input: { asked: dryRunInput },
      refusals: ['not-in-log'],
      async handle({ asked: { place, edited } }): Promise<DryRunResult> {
        const record = await log.read((reader) => recordAt(reader, place))
        if (!record) throw lost()
        return dryRun(place, edited === undefined ? record.value : mended(edited, record.value), record.key)
      },
    }),
  ]
}
