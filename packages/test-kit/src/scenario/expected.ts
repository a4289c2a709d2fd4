import { isDeepStrictEqual } from 'node:util'
import type { Documents } from '../domain-documents.ts'
import type { Answer } from './exchange.ts'
import { isPassed, type MemoryService } from './memory-service.ts'

/** The expected result. Objects may have more fields than expected. What is left out is not checked, except `rejected`. */
export interface Expected {
  /** Documents by key. `undefined` means that the document is missing. */
  stored?: Record<string, unknown>
  /** All events that the service published, in any order, except those of passed deadlines. Repetitions with the same bytes count once. */
  published?: object[]
  /** The answer to the last request. */
  answered?: Partial<Answer>
  /** The reasons of all dead letters, in any order. Default: none. Repetitions of a reason count once. */
  rejected?: string[]
  /** Checks that the other fields cannot express. It gets the documents by key, and throws if they are wrong. */
  check?: (documents: Documents) => void
}

export interface Result {
  service: MemoryService
  answer: Answer | undefined
}

/** @throws {DifferenceError} */
export function checkResult(
  { service, answer }: Result,
  { stored, published, answered, rejected = [], check }: Expected,
): void {
  const reasons = new Set(service.rejected.map(({ reason }) => reason))
  const details = service.rejected.map(({ reason, detail }) => `${reason}: ${detail}`)
  const logged = service.errors()
  const because = (what: string, lines: string[] = logged) => [what, ...lines].join('\n')
  const dead = 'other events than expected became dead letters'
  same([...reasons].toSorted(), rejected.toSorted(), because(dead, [...new Set([...details, ...logged])]))
  const { detail } = Object(answer?.body) as { detail?: string }
  const how = detail ? `: ${detail}` : ' otherwise'
  if (answered) same(answer && onlyIn(answer, answered), answered, because(`the service answered${how}`))
  const events = publishedEvents(service)
  if (published)
    same(inOrderOf(events, published), published, because('the service published other events than expected'))
  if (stored)
    same(storedIn(service.documents(), stored), stored, because('the store has other documents than expected'))
  check?.(service.documents())
}

/** @throws {DifferenceError} if a rebuild from the log gives other documents */
export function checkRebuilt(stored: Documents, rebuilt: Documents): void {
  same(rebuilt, stored, 'a rebuild from the log gives other documents than the store has')
}

/** @throws {Error} for two events with the same Id and other bytes */
function publishedEvents(service: MemoryService): object[] {
  const texts = new Map<string, string>()
  for (const { topic, value } of service.published) {
    if (isPassed(topic)) continue
    const text = Buffer.from(value).toString()
    const { Id, Name } = JSON.parse(text) as { Id: string; Name: string }
    const before = texts.get(Id)
    if (before !== undefined && before !== text)
      throw new Error(`${Name} ${Id} was published with two contents:\n${before}\n${text}`)
    texts.set(Id, text)
  }
  return [...texts.values()].map((text) => JSON.parse(text) as object)
}

/** Returns the actual events, reduced to the expected fields, in the order of the expected events that they match. */
function inOrderOf(actual: object[], expected: object[]): unknown[] {
  const rest = [...actual]
  const matched = expected.flatMap((each) => {
    const index = rest.findIndex((one) => isDeepStrictEqual(onlyIn(one, each), each))
    return index < 0 ? [] : rest.splice(index, 1).map((one) => onlyIn(one, each))
  })
  if (matched.length === expected.length) return [...matched, ...rest]
  return actual.map((one, index) => onlyIn(one, expected[index] ?? {}, true))
}

function storedIn(documents: Documents, expected: Record<string, unknown>): Record<string, unknown> {
  const unknown = Object.keys(expected).find((key) => expected[key] !== undefined && !(key in documents))
  if (unknown !== undefined)
    throw new Error(`there is no document ${unknown}; the keys are: ${Object.keys(documents).join(', ') || 'none'}`)
  return Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, onlyIn(documents[key], value)]))
}

/** Returns the fields of a value that the expected value has, too. */
function onlyIn(value: unknown, expected: unknown, elseWhole = false): unknown {
  if (Array.isArray(value) && Array.isArray(expected))
    return value.map((item, index) => (index < expected.length ? onlyIn(item, expected[index]) : item))
  if (!isObject(value) || !isObject(expected)) return value
  const names = Object.keys(expected).filter((name) => name in value)
  if (elseWhole && names.length === 0) return value
  return Object.fromEntries(names.map((name) => [name, onlyIn(value[name], expected[name])]))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The first difference between the expected and the actual result. Mocha shows it. */
export class DifferenceError extends Error {
  override name = 'DifferenceError'
  readonly showDiff = true
  readonly actual: unknown
  readonly expected: unknown
  constructor(message: string, actual: unknown, expected: unknown) {
    super(message)
    this.actual = actual
    this.expected = expected
  }
}

export function same(actual: unknown, expected: unknown, message: string): void {
  if (!isDeepStrictEqual(actual, expected)) throw new DifferenceError(message, actual, expected)
}
