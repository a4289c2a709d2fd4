import { eventSchemas, eventTypes, personalFields, schemaChanges, schemaDocuments } from '@orderflow/envelope'
import { isoTime } from '@orderflow/kafka-log'
import type { Publisher, SchemaUse } from '../api/system.ts'
import { tally } from './counts.ts'
import { isFaulty, type Kind, type KindCount, typeText } from './kind.ts'

const sum = (kinds: readonly KindCount[], test: (kind: Kind) => boolean = () => true) =>
  kinds.reduce((total, { kind, count }) => total + (test(kind) ? count : 0), 0)

/** Returns publishers and their events. An AppId with two AppNames is listed twice. */
export function publishersOf(
  kinds: readonly KindCount[],
  trustOf: (appId: string | null) => Publisher['trust'],
): Publisher[] {
  const published = kinds.filter(
    ({ kind }) => !kind.topic.endsWith('.dead') && (kind.appId !== null || kind.appName !== null),
  )
  const groups = Map.groupBy(published, ({ kind }) => JSON.stringify([kind.appId, kind.appName]))
  return [...groups.values()]
    .map((own): Publisher => {
      const { appId, appName } = (own[0] as KindCount).kind
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
            type: typeText((same[0] as KindCount).kind) ?? '',
            topic: (same[0] as KindCount).kind.topic,
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

export function schemaUses(kinds: readonly KindCount[], services: readonly Role[]): SchemaUse[] {
  return eventTypes.map((type) => {
    const [name = '', number = ''] = type.split('@')
    const version = Number(number)
    const versions = eventTypes.filter((one) => one.startsWith(`${name}@`)).map((one) => Number(one.split('@')[1]))
    const older = versions.reduce((most, one) => (one < version ? Math.max(most, one) : most), -Infinity)
    const used = kinds.filter(({ kind }) => typeText(kind) === type && !kind.topic.endsWith('.dead'))
    const byPublisher = Map.groupBy(used, ({ kind }) => JSON.stringify([kind.appId, kind.appName]))
    const topics = [...new Set([...used.map(({ kind }) => kind.topic), ...topicsOf(name, services)])].sort()
    return {
      type,
      name,
      version,
      isNewest: versions.every((one) => one <= version),
      events: sum(used),
      lastSeen: used.length > 0 ? isoTime(used.reduce((most, { last }) => Math.max(most, last), -Infinity)) : null,
      publishers: [...byPublisher.values()].map((own) => ({
        appId: (own[0] as KindCount).kind.appId,
        appName: (own[0] as KindCount).kind.appName,
        count: sum(own),
      })),
      producedBy: services
        .filter(({ publishes }) => Object.values(publishes).flat().includes(name))
        .map((one) => one.name),
      consumedBy: services
        .filter(({ consumes }) => consumes.some((topic) => topics.includes(topic)))
        .map((one) => one.name),
      topics,
      personal: personalFields(type).filter((pointer) => pointer.startsWith('/Payload')),
      schema: eventSchemas.get(type),
      compatibility: Number.isFinite(older) ? compatibilityOf(`${name}@${older}`, type) : null,
    }
  })
}

const topicsOf = (name: string, services: readonly Role[]): string[] =>
  services.flatMap(({ publishes }) =>
    Object.entries(publishes).flatMap(([topic, names]) => (names.includes(name) ? [topic] : [])),
  )

const schemas = schemaDocuments()

/** Returns the changes in a newer version. A change breaks readers of the older version if it allows Payloads that were invalid. */
function compatibilityOf(older: string, newer: string): NonNullable<SchemaUse['compatibility']> {
  const [before = '', after = ''] = [older, newer].map((type) => `events/${type.replace('@', '.')}.json`)
  const changes = schemaChanges(schemas, before, after).map(({ pointer, message, breaksForward }) => ({
    pointer: `/Payload${pointer}`,
    what: message,
    breaks: breaksForward,
  }))
  return { isCompatible: !changes.some(({ breaks }) => breaks), with: older, changes }
}
