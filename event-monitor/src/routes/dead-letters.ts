import { validateBytes } from '@orderflow/envelope-schema'
import { idempotencyKey, invalid, pathId, type Route } from '@orderflow/service-kit'
import { checkResend, type Entry, newestAttempt, openAttempt, readEvent } from '@orderflow/service-kit/log'
import type { CheckResult, DeadLetterDetail, DeadLetterEntry, DeadLetterGroups, Job } from '../api/dead-letters.ts'
import type { DryRunResult, Place } from '../api/events.ts'
import type { Page } from '../api/truth.ts'
import { tryRecord } from '../dry-run.ts'
import { faultsOf } from '../model/dead-letters.ts'
import { changesBetween, editableText, editedValue } from '../model/edited.ts'
import { maskDocument } from '../model/masked.ts'
import type { Monitor } from '../monitor.ts'
import { MonitorError } from '../monitor-error.ts'
import { answer, nameOf } from './answer.ts'
import { detailOf } from './detail.ts'
import { notKept } from './events.ts'
import { eventBody, pageInputs, textInput } from './inputs.ts'

const operate = 'events:operate' as const
const maxText = 256 * 1024
const text = { type: 'string' }

function editedIn(edited: unknown): string | undefined {
  if (edited === undefined) return undefined
  const { text: found } = Object(edited) as { text?: unknown }
  if (typeof found === 'string' && found.length <= maxText) return found
  throw invalid([{ pointer: '/edited/text', detail: 'is a JSON text of at most 256 KiB' }])
}

const checkInput = eventBody('CheckRequest', { edited: { type: 'object' } }, ({ edited }) => editedIn(edited))

const resendInput = eventBody(
  'ResendRequest',
  { entries: { type: 'array', items: text }, group: text, perSecond: { type: 'integer' }, edited: { type: 'object' } },
  ({ entries, group, perSecond = 50, edited }) => {
    const isRate = typeof perSecond === 'number' && Number.isInteger(perSecond) && perSecond >= 1 && perSecond <= 1_000
    if (!isRate) throw invalid([{ pointer: '/perSecond', detail: 'is a whole number from 1 to 1000' }])
    const change = editedIn(edited)
    if (typeof group === 'string' && entries === undefined && change === undefined)
      return { group, entries: undefined, perSecond, edited: change }
    const isList =
      Array.isArray(entries) &&
      entries.length > 0 &&
      entries.length <= 10_000 &&
      entries.every((id) => typeof id === 'string')
    if (!isList || group !== undefined)
      throw invalid([{ pointer: '/entries', detail: 'is a list of ids, or there is a group instead' }])
    if (change !== undefined && entries.length !== 1)
      throw invalid([{ pointer: '/edited', detail: 'is for one entry' }])
    return { entries: entries as string[], group: undefined, perSecond, edited: change }
  },
)

const dryRunInput = eventBody(
  'DryRunRequest',
  { place: { type: 'object' }, edited: { type: 'object' } },
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

export function deadLetterRoutes(monitor: Monitor): Route[] {
  const { index, log, ledger, resends, trust, services } = monitor

  async function entryOf(id: string) {
    const [found] = await index.ask('rawEntries', [id])
    if (found) return found
    throw notKept(`dead letter ${id}`)
  }

  /** Ids of what is open in a group, the oldest first. */
  async function openIn(group: string | undefined): Promise<string[]> {
    const found = await index.ask('deadLetterEntries', group, 'open')
    if (found.length === 0) throw notKept('open dead letter of this group')
    return found.map(({ id }) => id).reverse()
  }

  async function known(ids: string[]): Promise<string[]> {
    const unknown = await index.ask('unknownEntry', ids)
    if (unknown !== undefined) throw notKept(`dead letter ${unknown}`)
    return ids
  }

  /** The event that an entry is about, as the log or its dead letter has it. */
  const eventOf = (entry: Entry) => log.read((reader) => readEvent(reader, openAttempt(entry) ?? newestAttempt(entry)))

  function mended(textOfEdit: string, original: Uint8Array): Buffer {
    try {
      return editedValue(textOfEdit, original)
    } catch {
      throw invalid([{ pointer: '/edited/text', detail: 'is not JSON: check quotes, commas and brackets' }])
    }
  }

  async function dryRun(place: Place, value: Uint8Array, isVouchedFor: boolean): Promise<DryRunResult> {
    const record = { place, value: Buffer.from(value).toString('base64'), arrivedAt: Date.now(), isVouchedFor }
    return { services: await tryRecord(record, services) }
  }

  return [
    answer({
      path: '/v1/dead-letters',
      summary: 'List dead letters by what is wrong with them',
      input: {},
      async handle(): Promise<DeadLetterGroups> {
        const { groups, others } = await index.ask('deadLetterGroups')
        return { groups, others, open: groups.reduce((sum, { open }) => sum + open, 0), complete: index.truth() }
      },
    }),
    answer({
      path: '/v1/dead-letters/entries',
      summary: 'List dead letters',
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
      input: { id: pathId('id') },
      refusals: ['not-kept'],
      async handle({ id }): Promise<DeadLetterDetail> {
        const { entry, facts, view } = await entryOf(id)
        const attempt = openAttempt(entry) ?? newestAttempt(entry)
        const event = await eventOf(entry)
        const value = event?.value
        const { topic } = attempt.origin
        const faults = faultsOf(entry, facts)
        const checked =
          value &&
          checkResend({ topic, value, reason: attempt.reason, signature: undefined, isVouchedFor: true }, trust)
        return {
          entry: view,
          faults,
          detail: faults[0]?.pointer ? null : (faults[0]?.message ?? null),
          editable: value ? (editableText(value) ?? null) : null,
          event: (await detailOf(monitor, attempt.place)) ?? null,
          refusals: checked
            ? 'why' in checked
              ? checked.why
              : []
            : ['neither the dead letter nor the log has the event any more'],
        }
      },
    }),
    answer({
      method: 'post',
      path: '/v1/dead-letters/entries/{id}/check',
      scope: operate,
      summary: 'Check a dead letter before it is resent',
      input: { id: pathId('id'), edited: checkInput },
      refusals: ['not-kept', 'not-in-log'],
      async handle({ id, edited }): Promise<CheckResult> {
        const { entry } = await entryOf(id)
        const attempt = openAttempt(entry) ?? newestAttempt(entry)
        const original = (await eventOf(entry))?.value
        if (!original) throw lost()
        const value = edited === undefined ? original : mended(edited, original)
        const reason = edited === undefined ? attempt.reason : undefined
        const checked = checkResend(
          { topic: attempt.origin.topic, value, reason, signature: undefined, isVouchedFor: true },
          trust,
        )
        const refusals = 'why' in checked ? checked.why : []
        const [before, after] = [original, value].map((bytes) => maskDocument(documentIn(bytes)).document)
        return {
          isReady: refusals.length === 0,
          faults: validateBytes(value, 'receiver').errors,
          refusals,
          changes: edited === undefined ? [] : changesBetween(before, after),
          dryRun: refusals.length === 0 ? await dryRun(attempt.origin, value, true) : null,
        }
      },
    }),
    answer({
      method: 'post',
      path: '/v1/dry-run',
      scope: operate,
      summary: 'Ask services what they would do with an event',
      input: { asked: dryRunInput },
      refusals: ['not-in-log'],
      async handle({ asked: { place, edited } }): Promise<DryRunResult> {
        const record = await log.read(async (reader) => ((await reader.has(place)) ? reader.at(place) : undefined))
        if (!record) throw lost()
        return dryRun(place, edited === undefined ? record.value : mended(edited, record.value), true)
      },
    }),
    answer({
      method: 'post',
      path: '/v1/resends',
      scope: operate,
      status: 202,
      summary: 'Resend dead letters',
      input: { key: idempotencyKey({ description: 'The same key is the same job.' }), asked: resendInput },
      refusals: ['not-kept', 'not-in-log', 'refused'],
      async handle({ asked: { entries, group, perSecond, edited }, key }, context): Promise<Job> {
        const ids = entries === undefined ? await openIn(group) : await known(entries)
        const change = edited === undefined ? null : await mendedEvent(ids[0] as string, edited)
        return resends.start({
          entries: ids,
          group: group ?? null,
          perSecond,
          edited: change,
          by: nameOf(context),
          key,
        })
      },
    }),
    answer({
      path: '/v1/resends',
      summary: 'List jobs that resend dead letters',
      input: {},
      handle: () => ({ items: ledger.jobs(50) }),
    }),
    answer({
      path: '/v1/resends/{id}',
      summary: 'Get a job',
      input: { id: pathId('id') },
      refusals: ['not-kept'],
      handle: ({ id }): Job => jobOr404(id, ledger.find(id)?.job),
    }),
    answer({
      method: 'post',
      path: '/v1/resends/{id}/stop',
      scope: operate,
      summary: 'Stop a job',
      input: { id: pathId('id') },
      refusals: ['not-kept'],
      handle: ({ id }): Job => jobOr404(id, resends.stop(id)),
    }),
  ]

  /** In base64, for the job. @throws {MonitorError} `refused` with why */
  async function mendedEvent(id: string, edited: string): Promise<string> {
    const { entry } = await entryOf(id)
    const attempt = openAttempt(entry)
    if (!attempt) throw new MonitorError('refused', 'It was resent and has not failed since.')
    const original = (await eventOf(entry))?.value
    if (!original) throw lost()
    const value = mended(edited, original)
    const checked = checkResend(
      { topic: attempt.origin.topic, value, reason: undefined, signature: undefined, isVouchedFor: true },
      trust,
    )
    if ('why' in checked) throw new MonitorError('refused', checked.why.join('; '))
    return value.toString('base64')
  }
}

function jobOr404(id: string, job: Job | undefined): Job {
  if (job) return job
  throw notKept(`job ${id}`)
}

const lost = () => new MonitorError('not-in-log', 'Neither the dead letter nor the log has the event any more.')

function documentIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return null
  }
}
