import { createHash } from 'node:crypto'
import { positionText } from '@orderflow/kafka-log'
import { idempotencyKey, invalid, pathId, type Route } from '@orderflow/service-kit'
import { currentAttempt, type Entry } from '@orderflow/service-kit/log'
import type { Job } from '../api/dead-letters.ts'
import type { ChosenEntry } from '../jobs/ledger.ts'
import type { Monitor } from '../monitor.ts'
import { MonitorError } from '../monitor-error.ts'
import {
  attemptIn,
  attemptSchema,
  corrected,
  editedIn,
  editedSchema,
  entryAt,
  originalOf,
  refusalsOf,
} from './edited.ts'
import { notKept } from './events.ts'
import { answer, eventBody, nameOf } from './requests.ts'

const text = { type: 'string' }

const replayInput = eventBody(
  'ReplayRequest',
  {
    entries: {
      type: 'array',
      items: text,
      maxItems: 10_000,
      description: 'Ids of dead letters. Omit them to replay a group.',
    },
    group: { ...text, description: 'The id of a group, to replay its open dead letters.' },
    perSecond: { type: 'integer', minimum: 1, maximum: 1_000, default: 50 },
    attempt: attemptSchema,
    edited: {
      ...editedSchema,
      description: `The edited event of a single entry. Requires \`attempt\`. ${editedSchema.description}`,
    },
  },
  ({ entries, group, perSecond = 50, attempt: position, edited }) => {
    const isRate = typeof perSecond === 'number' && Number.isInteger(perSecond) && perSecond >= 1 && perSecond <= 1_000
    if (!isRate) throw invalid([{ pointer: '/perSecond', detail: 'must be a whole number from 1 to 1000' }])
    const [change, attempt] = [editedIn(edited), attemptIn(position)]
    const common = { perSecond, edited: change, attempt }
    if (typeof group === 'string' && entries === undefined && change === undefined && attempt === undefined)
      return { ...common, group, entries: undefined }
    const isList =
      Array.isArray(entries) &&
      entries.length > 0 &&
      entries.length <= 10_000 &&
      entries.every((id) => typeof id === 'string')
    if (!isList || group !== undefined)
      throw invalid([{ pointer: '/entries', detail: 'must be a list of ids; send either entries or a group' }])
    if (change !== undefined && entries.length !== 1)
      throw invalid([{ pointer: '/edited', detail: 'is allowed for one entry only' }])
    if (attempt !== undefined && entries.length !== 1)
      throw invalid([{ pointer: '/attempt', detail: 'is allowed for one entry only' }])
    if (change !== undefined && attempt === undefined) {
      const detail = 'is missing: send the `attempt` of the dead letter that you edited'
      throw invalid([{ pointer: '/attempt', detail }])
    }
    return { ...common, group: undefined, entries: [...new Set(entries as string[])] }
  },
)

const fingerprintOf = (request: object) => createHash('sha256').update(JSON.stringify(request)).digest('hex')

export function replayRoutes(monitor: Monitor): Route[] {
  const { index, ledger, replays } = monitor

  async function openIn(group: string | undefined): Promise<ChosenEntry[]> {
    const { chosen } = await index.ask('chosenEntries', { group })
    if (chosen.length === 0) throw notKept('open dead letter of this group')
    return chosen
  }

  async function entriesWith(ids: string[]): Promise<ChosenEntry[]> {
    const { chosen, unknown } = await index.ask('chosenEntries', { ids })
    if (unknown !== undefined) throw notKept(`dead letter ${unknown}`)
    return chosen
  }

  /** Returns the edited event in base64. @throws {MonitorError} `refused` with the reasons */
  async function correctedEvent(entry: Entry, edited: string): Promise<string> {
    const value = corrected(edited, (await originalOf(monitor, entry)).value)
    const refusals = refusalsOf(monitor, currentAttempt(entry).origin.topic, value, undefined)
    if (refusals.length > 0) throw new MonitorError('refused', refusals.join('; '))
    return value.toString('base64')
  }

  return [
    answer({
      method: 'post',
      path: '/v1/replays',
      scope: 'events:operate',
      status: 202,
      summary: 'Replay dead letters',
      description:
        'Starts a job. For each dead letter, the job replays the attempt that is the newest at the time of the request. If this attempt ' +
        'was replayed before, it is not published again: its outcome is `done`, with the position of the earlier replay. An edit applies ' +
        'only to the attempt in `attempt`.',
      input: {
        key: idempotencyKey({
          description:
            'A retry with the same key returns the first job, also after a restart. A retry with another body returns 422.',
        }),
        request: replayInput,
      },
      refusals: ['not-kept', 'not-in-log', 'other-attempt', 'refused', 'idempotency-key-reused'],
      async handle({ request, key }, context): Promise<Job> {
        const { entries, group, perSecond, edited, attempt } = request
        const jobRequest = { by: nameOf(context), key, fingerprint: fingerprintOf(request) }
        return await replays.start(jobRequest, async () => {
          const chosen = entries === undefined ? await openIn(group) : await entriesWith(entries)
          const common = { group: group ?? null, perSecond }
          const [first] = chosen
          if (!attempt || !first) return { ...common, entries: chosen, edited: null }
          const entry = await entryAt(monitor, first.id, attempt)
          const change = edited === undefined ? null : await correctedEvent(entry, edited)
          return { ...common, entries: [{ id: entry.id, attempt: positionText(attempt) }], edited: change }
        })
      },
    }),
    answer({
      path: '/v1/replays',
      summary: 'List jobs that replay dead letters',
      input: {},
      handle: () => ({ items: ledger.jobs(50) }),
    }),
    answer({
      path: '/v1/replays/{id}',
      summary: 'Get a job',
      input: { id: pathId('id') },
      refusals: ['not-kept'],
      handle: ({ id }): Job => jobOr404(id, ledger.find(id)?.job),
    }),
    answer({
      method: 'post',
      path: '/v1/replays/{id}/stop',
      scope: 'events:operate',
      summary: 'Stop a job',
      input: { id: pathId('id') },
      refusals: ['not-kept'],
      handle: ({ id }): Job => jobOr404(id, replays.stop(id)),
    }),
  ]
}

function jobOr404(id: string, job: Job | undefined): Job {
  if (job) return job
  throw notKept(`job ${id}`)
}
