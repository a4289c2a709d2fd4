import { type Change, changesBetween, compatibilityOf, needsUpcaster, rulesOf, type Schemas } from './changes.ts'

export interface Finding {
  path: string
  isWrong: boolean
  message: string
  changes: Change[]
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
  if (!after.has(path))
    return [{ path, isWrong: true, message: 'is missing, and logs still have its events: restore it', changes: [] }]
  if (before.has(path)) return changed(path, before, after, name !== undefined)
  const earlier = name && newestBefore(name, Number(version), after)
  if (!earlier) return [{ path, isWrong: false, message: 'is new', changes: [] }]
  const changes = changesBetween(rulesOf(after, earlier), rulesOf(after, path))
  const isWrong = needsUpcaster(changes) && after.get(path)?.['x-upcast'] === undefined
  const advice = isWrong ? ': declare x-upcast, because receivers convert each event to its newest Version' : ''
  const message = `is a new Version: ${compatibilityOf(changes)} to ${earlier.split('/').at(-1)}${advice}`
  return [{ path, isWrong, message, changes }]
}

function changed(path: string, before: Schemas, after: Schemas, isEvent: boolean): Finding[] {
  const changes = changesBetween(rulesOf(before, path), rulesOf(after, path))
  if (changes.length === 0) return []
  const compatibility = compatibilityOf(changes)
  if (isEvent) {
    return [
      {
        path,
        isWrong: true,
        message: `changed under its Version (${compatibility}): restore it, and write the next Version`,
        changes,
      },
    ]
  }
  const isWrong = changes.some(({ breaksBackward }) => breaksBackward)
  const advice = isWrong
    ? 'rejects documents that it accepted before: restore it, because it has no Version'
    : 'accepts more documents: update all receivers first'
  return [{ path, isWrong, message: `changed (${compatibility}): it ${advice}`, changes }]
}

function newestBefore(name: string, version: number, schemas: Schemas): string | undefined {
  const earlier = [...schemas.keys()].flatMap((path) => {
    const [, other, number] = eventPath.exec(path) ?? []
    return other === name && Number(number) < version ? [Number(number)] : []
  })
  const newest = earlier.reduce((most, number) => Math.max(most, number), 0)
  return earlier.length > 0 ? `events/${name}.${newest}.json` : undefined
}
