import { eventSchemas, eventTypes, personalFields } from '@orderflow/envelope'
import { isoTime } from '@orderflow/kafka-log'
import type { Publisher, SchemaUse } from '../api/system.ts'
import { tally } from './counts.ts'
import { isFaulty, type Kind, typeText } from './kind.ts'

interface UsedKind {
  kind: Kind
  count: number
  first: number
  last: number
}

const sum = (kinds: readonly UsedKind[], test: (kind: Kind) => boolean = () => true) =>
  kinds.reduce((total, { kind, count }) => total + (test(kind) ? count : 0), 0)

/** Returns publishers and their events. An AppId with two AppNames is listed twice. */
export function publishersOf(
  kinds: readonly UsedKind[],
  trustOf: (appId: string | null) => Publisher['trust'],
): Publisher[] {
  const published = kinds.filter(
    ({ kind }) => !kind.topic.endsWith('.dead') && (kind.appId !== null || kind.appName !== null),
  )
  const groups = Map.groupBy(published, ({ kind }) => JSON.stringify([kind.appId, kind.appName]))
  return [...groups.values()]
    .map((own): Publisher => {
      const { appId, appName } = (own[0] as UsedKind).kind
      const types = Map.groupBy(own, ({ kind }) => JSON.stringify([typeText(kind), kind.topic]))
      return {
        appId,
        appName,
        trust: trustOf(appId),
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
            type: typeText((same[0] as UsedKind).kind) ?? '',
            topic: (same[0] as UsedKind).kind.topic,
            count: sum(same),
          }))
          .sort((one, other) => other.count - one.count),
        firstSeen: isoTime(own.reduce((least, { first }) => Math.min(least, first), Infinity)),
        lastSeen: isoTime(own.reduce((most, { last }) => Math.max(most, last), -Infinity)),
      }
    })
    .sort((one, other) => other.events - one.events)
}

interface Role {
  name: string
  consumes: readonly string[]
  publishes: Readonly<Record<string, readonly string[]>>
}

export function schemaUses(kinds: readonly UsedKind[], services: readonly Role[]): SchemaUse[] {
  return eventTypes.map((type) => {
    const [name = '', number = ''] = type.split('@')
    const version = Number(number)
    const versions = eventTypes.filter((one) => one.startsWith(`${name}@`)).map((one) => Number(one.split('@')[1]))
    const older = versions.reduce((most, one) => (one < version ? Math.max(most, one) : most), -Infinity)
    const used = kinds.filter(({ kind }) => typeText(kind) === type && !kind.topic.endsWith('.dead'))
    const byPublisher = Map.groupBy(used, ({ kind }) => JSON.stringify([kind.appId, kind.appName]))
    const topics = [...new Set([...used.map(({ kind }) => kind.topic), ...topicsOf(name, services)])].sort()
    const schema = eventSchemas.get(type) as object
    return {
      type,
      name,
      version,
      isNewest: versions.every((one) => one <= version),
      events: used.reduce((total, { count }) => total + count, 0),
      lastSeen: used.length > 0 ? isoTime(used.reduce((most, { last }) => Math.max(most, last), -Infinity)) : null,
      publishers: [...byPublisher.values()].map((own) => ({
        appId: (own[0] as UsedKind).kind.appId,
        appName: (own[0] as UsedKind).kind.appName,
        count: own.reduce((total, { count }) => total + count, 0),
      })),
      producedBy: services
        .filter(({ publishes }) => Object.values(publishes).flat().includes(name))
        .map((one) => one.name),
      consumedBy: services
        .filter(({ consumes }) => consumes.some((topic) => topics.includes(topic)))
        .map((one) => one.name),
      topics,
      personal: personalFields(type).filter((pointer) => pointer.startsWith('/Payload')),
      schema,
      compatibility: Number.isFinite(older)
        ? compatibilityOf(eventSchemas.get(`${name}@${older}`) as object, schema, `${name}@${older}`)
        : null,
    }
  })
}

const topicsOf = (name: string, services: readonly Role[]): string[] =>
  services.flatMap(({ publishes }) =>
    Object.entries(publishes).flatMap(([topic, names]) => (names.includes(name) ? [topic] : [])),
  )

interface Schema {
  properties?: Record<string, Record<string, unknown>>
  required?: string[]
}

type Compatibility = NonNullable<SchemaUse['compatibility']>

/**
 * Returns the changes in a newer version. A change breaks older readers if a field that they need can be missing or
 * have another type.
 */
function compatibilityOf(older: Schema, newer: Schema, olderType: string): Compatibility {
  const [before, after] = [older.properties ?? {}, newer.properties ?? {}]
  const isRequired = ({ required = [] }: Schema, field: string) => required.includes(field)
  const changes = [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap(
    (field): Compatibility['changes'] => {
      const pointer = `/Payload/${field}`
      const [old, now] = [before[field], after[field]]
      const [was, is] = [isRequired(older, field), isRequired(newer, field)]
      if (!old) return [{ pointer, what: is ? 'is new, and required' : 'is new', breaks: false }]
      if (!now) return [{ pointer, what: 'is gone', breaks: was }]
      return [
        ...(was && !is ? [{ pointer, what: 'need not be there any more', breaks: true }] : []),
        ...(!was && is ? [{ pointer, what: 'is required now', breaks: false }] : []),
        ...(rulesOf(old) === rulesOf(now) ? [] : [{ pointer, what: 'has other rules', breaks: true }]),
      ]
    },
  )
  return { isCompatible: !changes.some(({ breaks }) => breaks), with: olderType, changes }
}

function rulesOf(schema: Record<string, unknown>): string {
  const { title: _title, description: _description, ...rules } = schema
  return JSON.stringify(rules)
}
