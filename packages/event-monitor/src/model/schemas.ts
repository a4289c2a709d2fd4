import { readFileSync } from 'node:fs'
import { eventTypes, personalFields } from '@orderflow/envelope-schema'
import type { SchemaUse } from '../api/system.ts'
import { compatibilityOf } from './compatibility.ts'
import { typeText } from './kind.ts'
import type { SeenKind } from './publishers.ts'
import { iso } from './row.ts'

interface Role {
  name: string
  consumes: readonly string[]
  publishes: Readonly<Record<string, readonly string[]>>
}

const folder = new URL('events/', import.meta.resolve('@orderflow/envelope-schema/schemas/common.json'))
const schemas = new Map(
  eventTypes.map((type) => [
    type as string,
    JSON.parse(readFileSync(new URL(`${type.replace('@', '.')}.json`, folder), 'utf8')) as object,
  ]),
)

/** Which events there are, which versions are in use, and by whom. */
export function schemaUses(kinds: readonly SeenKind[], services: readonly Role[]): SchemaUse[] {
  return eventTypes.map((type) => {
    const [name = '', number = ''] = type.split('@')
    const version = Number(number)
    const versions = eventTypes.filter((one) => one.startsWith(`${name}@`)).map((one) => Number(one.split('@')[1]))
    const older = versions.reduce((most, one) => (one < version ? Math.max(most, one) : most), -Infinity)
    const used = kinds.filter(({ kind }) => typeText(kind) === type && !kind.topic.endsWith('.dead'))
    const byPublisher = Map.groupBy(used, ({ kind }) => JSON.stringify([kind.appId, kind.appName]))
    const topics = [...new Set([...used.map(({ kind }) => kind.topic), ...topicsOf(name, services)])].sort()
    const schema = schemas.get(type) as object
    return {
      type,
      name,
      version,
      isNewest: versions.every((one) => one <= version),
      events: used.reduce((total, { count }) => total + count, 0),
      lastSeen: used.length > 0 ? iso(used.reduce((most, { last }) => Math.max(most, last), -Infinity)) : null,
      publishers: [...byPublisher.values()].map((own) => ({
        appId: (own[0] as SeenKind).kind.appId,
        appName: (own[0] as SeenKind).kind.appName,
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
        ? compatibilityOf(schemas.get(`${name}@${older}`) as object, schema, `${name}@${older}`)
        : null,
    }
  })
}

const topicsOf = (name: string, services: readonly Role[]): string[] =>
  services.flatMap(({ publishes }) =>
    Object.entries(publishes).flatMap(([topic, names]) => (names.includes(name) ? [topic] : [])),
  )
