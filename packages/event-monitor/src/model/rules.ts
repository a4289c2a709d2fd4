import { eventTypes, isGuid, isGuidField, payloadFields } from '@orderflow/envelope-schema'
import type { Reaction } from '@orderflow/service-kit/application'

/** Returns the value by which a document and its answers find each other; null for a document of no reaction. */
export type SubjectOf = (document: unknown) => string | null

/** Returns how to find what a document is about: the field that services.json names for the reactions of its event. */
export function subjectsOf(reactions: readonly Pick<Reaction, 'after' | 'answers' | 'about'>[]): SubjectOf {
  const fields = new Map(
    reactions.flatMap(({ after, answers, about }) => [after, ...answers].map((event) => [event, about] as const)),
  )
  const guidFields = new Set([...new Set(fields.values())].filter(holdsGuid))
  return (document) => {
    const { Name, Payload } = Object(document) as { Name?: unknown; Payload?: unknown }
    const field = fields.get(String(Name))
    if (field === undefined) return null
    const subject = (Object(Payload) as Record<string, unknown>)[field]
    if (isGuid(subject)) return subject.toLowerCase()
    const isText = typeof subject === 'string' || typeof subject === 'number'
    return isText && !guidFields.has(field) ? String(subject) : null
  }
}

/** Returns whether every event that has the field has a GUID there. */
function holdsGuid(field: string): boolean {
  return eventTypes.filter((type) => payloadFields(type).includes(field)).every((type) => isGuidField(type, field))
}
