import { isPlainKey } from '../validation/limits.ts'
import { mayShow } from './personal.ts'

/** An event, or any document of a publisher: of all that it holds only what the contract lets be shown (`mayShow`), and names. */
export function maskedEvent(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return mayShow(name, value) ? value : `*** (${value.length} characters)`
  if (typeof value === 'number') return mayShow(name, value) ? value : '***'
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => maskedEvent(item, name))
  const entries = Object.entries(value).map(([key, inner], index) => [
    isPlainKey(key) ? key : `*** ${index + 1}`,
    maskedEvent(inner, key),
  ])
  return Object.fromEntries(entries)
}
