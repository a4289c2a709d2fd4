import { parseMoment } from '@orderflow/envelope/inputs'
import { type EventFilter, validities } from '../../src/api/index.ts'

const lists = ['topic', 'name', 'publisher', 'why'] as const
const texts = ['guid', 'q'] as const
const moments = ['from', 'to'] as const

/** Returns the filter of a URL. Invalid parts are ignored. */
export function filterOf(search: string | URLSearchParams): EventFilter {
  const params = new URLSearchParams(search)
  const filter: EventFilter = {}
  for (const key of lists) {
    const values = params.getAll(key).filter(Boolean)
    if (values.length > 0) filter[key] = values
  }
  const validity = params.getAll('validity').flatMap((value) => validities.filter((each) => each === value))
  if (validity.length > 0) filter.validity = validity
  const versions = params.getAll('version').map(Number).filter(Number.isSafeInteger)
  if (versions.length > 0) filter.version = versions
  const partition = params.get('partition')
  if (partition && /^\d{1,9}$/.test(partition)) filter.partition = Number(partition)
  for (const key of texts) {
    const value = params.get(key)?.trim()
    if (value) filter[key] = value
  }
  for (const key of moments) {
    const moment = parseMoment(params.get(key) ?? '')
    if (moment) filter[key] = moment.toISOString()
  }
  return filter
}

/** Returns a filter as a query string. Equal filters have equal query strings. */
export function searchOf(filter: EventFilter): string {
  const params = new URLSearchParams()
  for (const key of [...lists, 'validity', 'version'] as const) {
    for (const value of filter[key] ?? []) params.append(key, String(value))
  }
  for (const key of ['partition', ...texts, ...moments] as const) {
    if (filter[key] !== undefined) params.append(key, String(filter[key]))
  }
  const text = params.toString()
  return text && `?${text}`
}

export type FacetKey = 'topic' | 'type' | 'publisher' | 'validity' | 'why'

export function isChosen(filter: EventFilter, key: FacetKey, value: string): boolean {
  const wanted = partsOf(key, value)
  const keys = Object.keys(wanted) as (keyof EventFilter)[]
  return keys.every((each) => (filter[each] as unknown[] | undefined)?.includes((wanted[each] as unknown[])[0]))
}

/**
 * Adds a facet's value to a filter, or removes it. A new type or reason replaces the previous type or reason; other
 * facets can have several values.
 */
export function toggled(filter: EventFilter, key: FacetKey, value: string): EventFilter {
  const wanted = partsOf(key, value)
  const isOn = isChosen(filter, key, value)
  const next: Record<string, unknown> = { ...filter }
  for (const [each, [one]] of Object.entries(wanted) as [string, unknown[]][]) {
    const now = (next[each] as unknown[] | undefined) ?? []
    const others = Object.keys(wanted).length > 1 ? [] : now.filter((other) => other !== one)
    next[each] = isOn ? others : [...others, one]
    if ((next[each] as unknown[]).length === 0) delete next[each]
  }
  return next as EventFilter
}

function partsOf(key: FacetKey, value: string): EventFilter {
  if (key === 'type') {
    const at = value.lastIndexOf('@')
    const version = Number(value.slice(at + 1))
    return at > 0 && Number.isSafeInteger(version)
      ? { name: [value.slice(0, at)], version: [version] }
      : { name: [value] }
  }
  if (key === 'why') {
    const space = value.indexOf(' ')
    const validity = validities.find((each) => each === (space < 0 ? value : value.slice(0, space)))
    if (!validity) return { why: [value] }
    return space < 0 ? { validity: [validity] } : { validity: [validity], why: [value.slice(space + 1)] }
  }
  return { [key]: [value] }
}

/** Returns each part of a filter as a label, with the filter that remains without this part. */
export function chipsOf(filter: EventFilter): { label: string; without: EventFilter }[] {
  return (Object.entries(filter) as [keyof EventFilter, unknown][]).flatMap(([key, value]) => {
    const without = (rest?: unknown[]) => {
      const { [key]: _, ...others } = filter
      return (rest?.length ? { ...others, [key]: rest } : others) as EventFilter
    }
    if (!Array.isArray(value)) return [{ label: `${key}: ${value}`, without: without() }]
    return value.map((one) => ({ label: `${key}: ${one}`, without: without(value.filter((other) => other !== one)) }))
  })
}
