import { parseFullEnvelope, validateBytes } from '@orderflow/envelope-schema'
import { invalid, type Route } from '@orderflow/service-kit'
import type { MissingReactions, Publishers, Schemas, Validated } from '../api/system.ts'
import { likelyReason } from '../model/likely.ts'
import { publishersOf } from '../model/publishers.ts'
import { schemaUses } from '../model/schemas.ts'
import type { Monitor } from '../monitor.ts'
import { answer } from './answer.ts'
import { eventBody, optionalNumber, pageInputs } from './inputs.ts'

const daySeconds = 24 * 60 * 60

const pasted = eventBody(
  'Pasted',
  { text: { type: 'string' }, as: { type: 'string', enum: ['received', 'full'] } },
  ({ text, as = 'received' }) => {
    if (typeof text !== 'string' || text.length > 256 * 1024)
      throw invalid([{ pointer: '/text', detail: 'is a text of at most 256 KiB' }])
    if (as !== 'received' && as !== 'full') throw invalid([{ pointer: '/as', detail: 'is received or full' }])
    return { bytes: Buffer.from(text), as }
  },
)

export function systemRoutes({ index, services, reactions, standingOf, see, now }: Monitor): Route[] {
  return [
    answer({
      path: '/v1/missing',
      summary: 'List events that nobody has reacted to',
      input: {
        seconds: optionalNumber('seconds', 1, daySeconds, 'As long as each reaction may take, when left out.'),
        limit: pageInputs.limit,
      },
      async handle({ seconds, limit }): Promise<MissingReactions> {
        const moment = now().getTime()
        const [seen, { found, total, isAtLeast }, letters] = await Promise.all([
          see(),
          index.ask('missing', moment, seconds, limit),
          index.ask('deadLetterEntries', undefined, undefined),
        ])
        const byPlace = new Map(
          letters.flatMap(({ id, attempts }) =>
            attempts.flatMap(({ place, rejections }) =>
              rejections.map(({ app }) => [`${app} ${JSON.stringify(place)}`, id] as const),
            ),
          ),
        )
        const around = {
          services: seen.services,
          groups: seen.groups,
          indexLag: index.truth().indexLag,
          letterOf: (row: { place: object }, app: string) => byPlace.get(`${app} ${JSON.stringify(row.place)}`),
        }
        const items = found.map(({ row: cause, reaction: { answers, by } }) => {
          const waiting = Math.round((moment - Date.parse(cause.at)) / 1_000)
          return { cause, waiting, expected: [...answers], by, likely: likelyReason(cause, by, around) }
        })
        return {
          items,
          total,
          isAtLeast,
          rules: reactions.map(({ after, answers, by, within }) => ({
            cause: after,
            effects: [...answers],
            by,
            within,
          })),
          complete: index.truth(),
        }
      },
    }),
    answer({
      path: '/v1/publishers',
      summary: 'List who publishes what',
      input: {},
      handle: async (): Promise<Publishers> => ({
        items: publishersOf(await index.ask('kinds'), standingOf),
        complete: index.truth(),
      }),
    }),
    answer({
      path: '/v1/schemas',
      summary: 'List schemas and who uses them',
      input: {},
      handle: async (): Promise<Schemas> => ({
        items: schemaUses(await index.ask('kinds'), services),
        complete: index.truth(),
      }),
    }),
    answer({
      method: 'post',
      path: '/v1/validate',
      summary: 'Judge a text as an event',
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
  ]
}

/** Only of one that is known: a text that is not may have anything for a name. */
function typeIn(bytes: Buffer): string | null {
  try {
    const { Name, Version } = parseFullEnvelope(bytes)
    return `${Name}@${Version}`
  } catch {
    return null
  }
}
