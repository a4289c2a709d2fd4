import { type Change, compatibilityOf, needsUpcaster, type Schemas, schemaChanges } from './changes.ts'

export interface Finding {
  path: string
  isWrong: boolean
  message: string
  changes: Change[]
  /** The event types (`Name@Version`) whose readers the changes may break. Empty for the envelope, which every service reads. */
  types: string[]
}

const eventPath = /^events\/(.+)\.(\d+)\.json$/

/**
 * Compares schemas with their earlier state. The rules for a Version of an event must never change. A new Version is compared with the previous one.
 * The rules of the envelope may only become more permissive.
 */
export function findingsBetween(before: Schemas, after: Schemas): Finding[] {
  const paths = new Set([...before.keys(), ...after.keys()])
  return [...paths].sort().flatMap((path) => (path === 'common.json' ? [] : findingsOf(path, before, after)))
}

function findingsOf(path: string, before: Schemas, after: Schemas): Finding[] {
  const [, name, version] = eventPath.exec(path) ?? []
  const types = name ? [`${name}@${version}`, ...newerTypes(name, Number(version), after)] : []
  if (!after.has(path)) return [removed(path, types)]
  if (before.has(path)) return changed(path, before, after, types)
  const newest = name && newestBefore(name, Number(version), after)
  if (!newest) return [{ path, isWrong: false, message: 'is new', changes: [], types: [] }]
  const earlier = `events/${name}.${newest}.json`
  const changes = schemaChanges(after, earlier, path)
  const isWrong = needsUpcaster(changes) && after.get(path)?.['x-upcast'] === undefined
  const advice = isWrong ? ': declare x-upcast, because receivers convert each event to its newest Version' : ''
  const message = `is a new Version: ${compatibilityOf(changes)} to ${name}.${newest}.json${advice}`
  return [{ path, isWrong, message, changes, types: [`${name}@${newest}`] }]
}

function removed(path: string, types: string[]): Finding {
  const message = 'is missing, and logs still have its events: restore it'
  const change = { pointer: '', message: 'has no schema now', breaksBackward: true, breaksForward: true }
  return { path, isWrong: true, message, changes: [change], types }
}

function changed(path: string, before: Schemas, after: Schemas, types: string[]): Finding[] {
  const changes = schemaChanges(after, path, path, before)
  if (changes.length === 0) return []
  const compatibility = compatibilityOf(changes)
  if (types.length > 0) {
    const message = `changed under its Version (${compatibility}): restore it, and write the next Version`
    return [{ path, isWrong: true, message, changes, types }]
  }
  const isWrong = changes.some(({ breaksBackward }) => breaksBackward)
  const advice = isWrong
    ? 'rejects documents that it accepted before: restore it, because it has no Version'
    : 'accepts more documents: update all receivers first'
  return [{ path, isWrong, message: `changed (${compatibility}): it ${advice}`, changes, types }]
}

/** Returns the types of newer Versions. Services get events of an older Version converted to the newest one, so they read its fields there. */
const newerTypes = (name: string, version: number, schemas: Schemas) =>
  versionsOf(name, schemas)
    .filter((other) => other > version)
    .map((other) => `${name}@${other}`)

function newestBefore(name: string, version: number, schemas: Schemas): number | undefined {
  const earlier = versionsOf(name, schemas).filter((other) => other < version)
  return earlier.sort((a, b) => a - b).at(-1)
}

const versionsOf = (name: string, schemas: Schemas): number[] =>
  [...schemas.keys()].flatMap((path) => {
    const [, other, version] = eventPath.exec(path) ?? []
    return other === name ? [Number(version)] : []
  })
