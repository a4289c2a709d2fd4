import { maskedEvent } from '@orderflow/envelope-schema'

/**
 * An event's bytes for a reader: JSON with all masked that the contract does not let be shown, and nothing of what is no JSON. With
 * `values` all of it, as it is.
 */
export function shownValue(value: Uint8Array, values: boolean): string {
  const text = Buffer.from(value).toString()
  if (text === '') return '(nothing: a tombstone)'
  if (values) return prettyIfSame(text)
  try {
    return JSON.stringify(maskedEvent(JSON.parse(text)), null, 2)
  } catch {
    return `(${value.byteLength} bytes that are not JSON, or nest too deep; VALUES=1 shows them)`
  }
}

/** JSON over several lines where that loses nothing: no digits of a large number, no key that comes twice. */
export function prettyIfSame(text: string): string {
  try {
    const document: unknown = JSON.parse(text)
    return JSON.stringify(document) === text ? JSON.stringify(document, null, 2) : text
  } catch {
    return text
  }
}
