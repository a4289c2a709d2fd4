import { parseGuid } from '@orderflow/envelope-schema'
import { invalid } from '../problems/problem.ts'
import type { Input, Parameter } from './input.ts'
import { guidText, text } from './model.ts'

/** What the page says of a parameter besides its name and type. */
type Described = Pick<Parameter, 'description' | 'example'>

/** A GUID in the path, in any usual spelling: `pathId('id')` for `/v1/things/{id}`. What it names may not be there. */
export function pathId(name: string, described: Described = {}): Input<string> {
  return {
    read: (request) => readGuid(name, request.params[name]),
    parameters: [{ name, in: 'path', required: true, schema: guidText, ...described }],
    problems: [400, 404],
  }
}

/** A word in the path, as it came. What it names may not be there. */
export function pathWord(name: string, described: Described = {}): Input<string> {
  return {
    read: (request) => String(request.params[name]),
    parameters: [{ name, in: 'path', required: true, schema: text, ...described }],
    problems: [404],
  }
}

/** One of a few words in the query; the first of them when it is left out. */
export function queryWord<Word extends string>(
  name: string,
  words: readonly [Word, ...Word[]],
  described: Described = {},
): Input<Word> {
  return {
    read({ query }) {
      const { [name]: given = words[0] } = query
      const found = words.find((word) => word === given)
      if (found !== undefined) return found
      throw invalid([{ pointer: name, detail: `is ${words.join(' or ')}` }])
    },
    parameters: [{ name, in: 'query', schema: { ...text, enum: words, default: words[0] }, ...described }],
    problems: [400],
  }
}

/** A GUID in the query, in any usual spelling; undefined when it is left out. */
export function queryId(name: string, described: Described = {}): Input<string | undefined> {
  return {
    read: ({ query }) => (query[name] === undefined ? undefined : readGuid(name, query[name])),
    parameters: [{ name, in: 'query', schema: guidText, ...described }],
    problems: [400],
  }
}

/** Returns a GUID in lower case with hyphens. @throws {HttpProblem} 400 naming the parameter */
function readGuid(name: string, value: unknown): string {
  const guid = parseGuid(value)
  if (guid) return guid
  throw invalid([{ pointer: name, detail: 'is not a GUID, such as 7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11' }])
}

const maxKeyLength = 255

/**
 * The `Idempotency-Key` header; undefined when it is left out. 422 is for a key that came with another body before
 * (draft-ietf-httpapi-idempotency-key-header, section 2.7).
 */
export function idempotencyKey(described: Described): Input<string | undefined> {
  const name = 'Idempotency-Key'
  const form = new RegExp(`^[\\x21-\\x7e]{1,${maxKeyLength}}$`)
  return {
    read(request) {
      const key = request.get(name)
      if (key === undefined || form.test(key)) return key
      throw invalid([{ pointer: name, detail: `takes 1 to ${maxKeyLength} visible ASCII characters` }])
    },
    parameters: [
      {
        name,
        in: 'header',
        schema: { type: 'string', minLength: 1, maxLength: maxKeyLength, pattern: '^[\\x21-\\x7e]+$' },
        ...described,
      },
    ],
    problems: [400, 422],
  }
}
