import { describeProblem } from '@orderflow/envelope'
import type { EventFilter, EventRow, RecordPosition } from '../api/events.ts'

/**
 * Properties that many events share. A row contains only the number of its kind, so filters read four bytes per row.
 * Counts are sums over a few kinds.
 */
export type Kind = Pick<RecordPosition, 'topic'> &
  Pick<EventRow, 'name' | 'version' | 'appId' | 'appName' | 'variant' | 'validity' | 'problem'>

/** The events of a kind: their number, and the arrivals of the first and the last. */
export interface KindCount {
  kind: Kind
  count: number
  first: number
  last: number
}

export const kindKey = (kind: Kind): string => JSON.stringify(Object.values(kind))

export const isFaulty = ({ validity }: Kind): boolean => !['valid', 'foreign', 'replay-note'].includes(validity)

export const typeText = ({ name, version }: Kind): string | null => (name === null ? null : `${name}@${version}`)

export const publisherText = ({ appName, appId }: Kind): string | null => appName ?? appId

/** Returns the reason of an invalid event: `invalid-payload /Payload/Field`. */
export function whyText(kind: Kind): string | null {
  if (!isFaulty(kind)) return null
  const pointer = kind.problem?.pointer
  return pointer ? `${kind.validity} ${pointer}` : kind.validity
}

export type KindFilter = Pick<EventFilter, 'topic' | 'name' | 'version' | 'publisher' | 'validity' | 'why'> & {
  words?: readonly string[]
}

export function kindTest({
  topic,
  name,
  version,
  publisher,
  validity,
  why,
  words = [],
}: KindFilter): (kind: Kind) => boolean {
  const has = <T>(wanted: readonly T[] | undefined, ...values: (T | null)[]) =>
    !wanted || wanted.length === 0 || values.some((value) => value !== null && wanted.includes(value))
  return (kind) =>
    has(topic, kind.topic) &&
    has(name, kind.name, typeText(kind)) &&
    has(version, kind.version) &&
    has(publisher, kind.appId, kind.appName) &&
    has(validity, kind.validity) &&
    has(why, whyText(kind), kind.problem?.pointer ?? null) &&
    (words.length === 0 || hasWords(kind, words))
}

/** Returns true if each word is the beginning of a word in the kind: `fie` finds `invalid-payload /Payload/Field`. */
function hasWords(kind: Kind, words: readonly string[]): boolean {
  const { problem, topic, validity } = kind
  const texts = [topic, typeText(kind), publisherText(kind), validity, problem && describeProblem(problem)]
  const parts = texts.flatMap((text) => (text ? partsOf(text) : []))
  return words.every((word) => parts.some((part) => part.startsWith(word)))
}

/** Returns the words of a text: parts between separators, and parts that begin with capital letters. */
function partsOf(text: string): string[] {
  const split = text.split(/[^\p{L}\p{N}]+/u)
  const words = text.split(/\s+/).map((word) => word.replace(/^[^\p{L}\p{N}]+/u, ''))
  const humps = text.split(/[^\p{L}\p{N}]+|(?=\p{Lu})/u)
  return [...words, ...split, ...humps].filter(Boolean).map((part) => part.toLowerCase())
}
