import { statSync } from 'node:fs'
import { parseFullEnvelope, validateBytes } from '@orderflow/envelope'
import { invalid, type Route } from '@orderflow/service-kit'
import type { EventRow } from '../api/events.ts'
import type {
  GroupLag,
  HealthView,
  MissingReaction,
  MissingReactions,
  Publishers,
  Schemas,
  ServiceHealth,
  Validated,
} from '../api/system.ts'
import { publishersOf, schemaUses } from '../model/usage.ts'
import type { Monitor } from '../monitor.ts'
import { answer, eventBody, optionalNumber, pageInputs } from './requests.ts'

const daySeconds = 24 * 60 * 60

const pasted = eventBody(
  'Pasted',
  { text: { type: 'string' }, as: { type: 'string', enum: ['received', 'full'] } },
  ({ text, as = 'received' }) => {
    if (typeof text !== 'string' || text.length > 256 * 1024)
      throw invalid([{ pointer: '/text', detail: 'must be a text of at most 256 KiB' }])
    if (as !== 'received' && as !== 'full') throw invalid([{ pointer: '/as', detail: 'must be received or full' }])
    return { bytes: Buffer.from(text), as }
  },
)

export function systemRoutes(monitor: Monitor): Route[] {
  const { index, services, reactions, trustOf, status, latencies, views, now } = monitor
  return [
    answer({
      path: '/v1/missing',
      summary: 'List events without an expected reaction',
      input: {
        seconds: optionalNumber('seconds', 1, daySeconds, 'Waiting time. Default: the time limit of each reaction.'),
        limit: pageInputs.limit,
      },
      async handle({ seconds, limit }): Promise<MissingReactions> {
        const moment = now().getTime()
        const [systemStatus, { events, total, isAtLeast }] = await Promise.all([
          status(),
          index.ask('missing', moment, seconds, limit),
        ])
        const complete = index.completeness()
        const items = events.map(({ row: cause, reaction: { answers, by }, entry }) => {
          const waiting = Math.round((moment - Date.parse(cause.at)) / 1_000)
          const { indexLag } = complete
          const likely = likelyReason(cause, by, { ...systemStatus, indexLag, deadLetterOf: () => entry })
          return { cause, waiting, expected: [...answers], by, likely }
        })
        const rules = reactions.map(({ after: cause, answers: [...effects], by, within }) => ({
          cause,
          effects,
          by,
          within,
        }))
        return { items, total, isAtLeast, rules, complete }
      },
    }),
    answer({
      path: '/v1/publishers',
      summary: 'List publishers and their events',
      input: {},
      handle: async (): Promise<Publishers> => ({
        items: publishersOf(await index.ask('kinds'), trustOf),
        complete: index.completeness(),
      }),
    }),
    answer({
      path: '/v1/schemas',
      summary: 'List schemas and their use',
      input: {},
      handle: async (): Promise<Schemas> => ({
        items: schemaUses(await index.ask('kinds'), services),
        complete: index.completeness(),
      }),
    }),
    answer({
      method: 'post',
      path: '/v1/validate',
      summary: 'Validate an event',
      input: { pasted },
      handle({ pasted: { bytes, as } }): Validated {
        const { code, errors, valid, warnings } = validateBytes(bytes, as === 'full' ? 'publisher' : 'receiver')
        return {
          isValid: valid,
          validity: code ?? (warnings.length > 0 ? 'foreign' : 'valid'),
          type: typeIn(bytes),
          faults: errors,
        }
      },
    }),
    answer({
      path: '/v1/health',
      summary: 'Get the health of the system',
      input: {},
      async handle(): Promise<HealthView> {
        const systemStatus = await status()
        const state = index.state()
        const complete = index.completeness()
        return {
          ...systemStatus,
          latency: latencies.view(now().getTime()),
          index: {
            events: complete.kept,
            segments: state.segments.length,
            bytesOnDisk: state.segments.reduce((sum, { file }) => sum + sizeOf(file), 0),
            memoryBytes: process.memoryUsage.rss(),
            perSecond: state.perSecond,
            liveRowsDropped: views.dropped(),
            error: state.error,
          },
          complete,
        }
      },
    }),
  ]
}

function typeIn(bytes: Buffer): string | null {
  try {
    const { Name, Version } = parseFullEnvelope(bytes)
    return `${Name}@${Version}`
  } catch {
    return null
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

interface Surroundings {
  services: readonly ServiceHealth[]
  groups: readonly GroupLag[]
  indexLag: number | null
  deadLetterOf: (row: EventRow, app: string) => string | undefined
}

/** Returns the first problem that may have prevented the reaction. */
export function likelyReason(
  row: EventRow,
  by: string,
  { services, groups, indexLag, deadLetterOf }: Surroundings,
): MissingReaction['likely'] {
  const entry = deadLetterOf(row, by)
  if (entry) return { why: 'dead-letter', text: `${by} rejected it`, entry }
  const service = services.find(({ name }) => name === by)
  if (service && service.state !== 'ready') {
    const how =
      service.state === 'unreachable' ? 'cannot be reached' : `is not ready (${service.reason ?? 'without a reason'})`
    return { why: 'service-down', text: `${by} ${how}`, entry: null }
  }
  const { topic, partition, offset } = row.position
  const group = groups.find((one) => one.group === by && one.topic === topic && one.partition === partition)
  if (group && BigInt(group.position) <= BigInt(offset)) {
    // If the lag is 0, the event arrived after the lag was measured.
    const lag = `${group.isAtMost ? 'at most ' : ''}${group.lag}`
    const behind = group.lag > 0 ? `: it is ${lag} events behind in ${topic}/${partition}` : ''
    return { why: 'lag', text: `${by} has not read it yet${behind}`, entry: null }
  }
  if (indexLag === null || indexLag > 1_000) {
    const behind = indexLag === null ? 'cannot measure its lag' : `is ${indexLag} events behind`
    return { why: 'index-behind', text: `the monitor ${behind}: the reaction may exist already`, entry: null }
  }
  return { why: 'unknown', text: `${by} has handled it without publishing a reaction`, entry: null }
}
