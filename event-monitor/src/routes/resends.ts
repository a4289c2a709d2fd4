import { idempotencyKey, invalid, pathId, type Route } from '@orderflow/service-kit'
import { openAttempt } from '@orderflow/service-kit/log'
import type { Job } from '../api/dead-letters.ts'
import type { Monitor } from '../monitor.ts'
import { MonitorError } from '../monitor-error.ts'
import { answer, nameOf } from './answer.ts'
import { entryOf, originalOf, refusalsOf } from './dead-letter.ts'
import { editedIn, mended } from './edit.ts'
import { notKept } from './events.ts'
import { eventBody } from './inputs.ts'

const text = { type: 'string' }

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

/** Jobs that send dead letters back to where they came from. */
export function resendRoutes(monitor: Monitor): Route[] {
  const { index, ledger, resends } = monitor

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

  /** In base64, for the job. @throws {MonitorError} `refused` with why */
  async function mendedEvent(id: string, edited: string): Promise<string> {
    const { entry } = await entryOf(monitor, id)
    const attempt = openAttempt(entry)
    if (!attempt) throw new MonitorError('refused', 'It was resent and has not failed since.')
    const value = mended(edited, await originalOf(monitor, entry))
    const refusals = refusalsOf(monitor, attempt.origin.topic, value, undefined)
    if (refusals.length > 0) throw new MonitorError('refused', refusals.join('; '))
    return value.toString('base64')
  }

  return [
    answer({
      method: 'post',
      path: '/v1/resends',
      scope: 'events:operate',
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
      scope: 'events:operate',
      summary: 'Stop a job',
      input: { id: pathId('id') },
      refusals: ['not-kept'],
      handle: ({ id }): Job => jobOr404(id, resends.stop(id)),
    }),
  ]
}

function jobOr404(id: string, job: Job | undefined): Job {
  if (job) return job
  throw notKept(`job ${id}`)
}
