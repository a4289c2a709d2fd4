import type { Publisher } from '../api/system.ts'
import { tally } from './counts.ts'
import { isFaulty, type Kind, typeText } from './kind.ts'
import { iso } from './row.ts'

export interface SeenKind {
  kind: Kind
  count: number
  first: number
  last: number
}

const sum = (kinds: readonly SeenKind[], test: (kind: Kind) => boolean = () => true) =>
  kinds.reduce((total, { kind, count }) => total + (test(kind) ? count : 0), 0)

/** Who says what. A publisher is an AppId with an AppName: one that has two names is told twice. */
export function publishersOf(
  kinds: readonly SeenKind[],
  standingOf: (appId: string | null) => Publisher['trust'],
): Publisher[] {
  const said = kinds.filter(
    ({ kind }) => !kind.topic.endsWith('.dead') && (kind.appId !== null || kind.appName !== null),
  )
  const groups = Map.groupBy(said, ({ kind }) => JSON.stringify([kind.appId, kind.appName]))
  return [...groups.values()]
    .map((own): Publisher => {
      const { appId, appName } = (own[0] as SeenKind).kind
      const types = Map.groupBy(own, ({ kind }) => JSON.stringify([typeText(kind), kind.topic]))
      return {
        appId,
        appName,
        trust: standingOf(appId),
        events: sum(own),
        full: sum(own, ({ variant }) => variant === 'full'),
        reduced: sum(own, ({ variant }) => variant === 'reduced'),
        invalid: sum(own, isFaulty),
        byValidity: tally(own.map(({ kind, count }) => [kind.validity, count] as const)).map(({ value, count }) => ({
          validity: value as Kind['validity'],
          count,
        })),
        types: [...types.values()]
          .map((same) => ({
            type: typeText((same[0] as SeenKind).kind) ?? '',
            topic: (same[0] as SeenKind).kind.topic,
            count: sum(same),
          }))
          .sort((one, other) => other.count - one.count),
        firstSeen: iso(own.reduce((least, { first }) => Math.min(least, first), Infinity)),
        lastSeen: iso(own.reduce((most, { last }) => Math.max(most, last), -Infinity)),
      }
    })
    .sort((one, other) => other.events - one.events)
}
