import { isPlainKey, nearMissIn } from '@orderflow/envelope'
import type { FieldError } from './problems.ts'

/** The largest number of errors in one answer, because a body may have thousands of unknown fields. */
const maxErrors = 20

/** Creates a function that returns an error for each unknown query parameter. `known` are the parameters of the operation. */
export function unknownParameters(known: readonly string[]): (query: object) => FieldError[] {
  const detail = detailFor('query parameter of this operation', 'parameters', known)
  return (query) => {
    const unknown = unknownNames(query, known)
    // Unusual names are hidden, because they may contain personal data.
    const shown = new Map(unknown.map((name) => (isPlainKey(name) ? [name, detail(name)] : ['***', detail()])))
    return Array.from(shown, ([pointer, detail]) => ({ pointer, detail }))
  }
}

/**
 * Creates a function that returns an error for each unknown field of a body. Without it, a client with a misspelt optional field would get a success,
 * and the value would be lost. The function ignores a body that is not an object.
 */
export function unknownFields(known: readonly string[]): (body: unknown) => FieldError[] {
  const detail = detailFor('field of this body', 'fields', known)
  return (body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return []
    const unknown = unknownNames(body, known)
    const hidden = { pointer: '', detail: `has a field that ${detail()}` }
    const errors = unknown.filter(isPlainKey).map((name) => ({ pointer: `/${name}`, detail: detail(name) }))
    return unknown.every(isPlainKey) ? errors : [...errors, hidden]
  }
}

const unknownNames = (given: object, known: readonly string[]) =>
  Object.keys(given)
    .filter((name) => !known.includes(name))
    .slice(0, maxErrors)

function detailFor(what: string, all: string, known: readonly string[]): (name?: string) => string {
  const nearest = nearMissIn(known)
  const list = `the ${all} are: ${known.join(', ') || 'none'}`
  return (name = '') => {
    const meant = nearest(name) ?? known.find((other) => contains(other, name))
    return `is not a ${what}${meant ? ` (did you mean ${meant}?)` : ''}; ${list}`
  }
}

/** The smallest length of a name that is a part of another name, such as `taxId` of `customerTaxId`. */
const minPart = 3

function contains(one: string, other: string): boolean {
  const [long, short] = [one, other].map((name) => name.toLowerCase()).sort((a, b) => b.length - a.length)
  return short !== undefined && short.length >= minPart && long?.includes(short) === true
}
