import { createHash } from 'node:crypto'
import { eventTypes, isGuid, isGuidField, payloadFields } from '@orderflow/envelope'
import { type Application, topicOfEvent } from '@orderflow/service-kit/application'

type Declared = Pick<Application, 'reactions' | 'topics' | 'services'>

export interface Rules {
  sharedIdOf: SharedIdOf
  keyFields: (topic: string) => readonly string[]
  /** If the fingerprint changes, the index is rebuilt from the log. */
  fingerprint: string
}

export function rulesOf(declared: Declared): Rules {
  const keys = declared.topics.map(({ name, key }) => [name, key] as const)
  const fieldsOf = new Map(keys)
  const decisive = JSON.stringify([sharedFields(declared), keys])
  return {
    sharedIdOf: sharedIdsOf(declared),
    keyFields: (topic) => fieldsOf.get(topic) ?? [],
    fingerprint: createHash('sha256').update(decisive).digest('base64url'),
  }
}

/**
 * Returns the shared id: a value that an event and its reactions have in common. Null if the event has no part in an
 * expected reaction, or if the event belongs to another topic.
 */
type SharedIdOf = (document: unknown, topic: string) => string | null

function sharedIdsOf(application: Declared): SharedIdOf {
  const fields = new Map(sharedFields(application))
  const guidFields = new Set([...new Set([...fields.values()].map(({ about }) => about))].filter(holdsGuid))
  return (document, topic) => {
    const { Name, Payload } = Object(document) as { Name?: unknown; Payload?: unknown }
    const known = fields.get(String(Name))
    if (known?.topic !== topic) return null
    const field = known.about
    const sharedId = (Object(Payload) as Record<string, unknown>)[field]
    if (isGuid(sharedId)) return sharedId.toLowerCase()
    const isText = typeof sharedId === 'string' || typeof sharedId === 'number'
    return isText && !guidFields.has(field) ? String(sharedId) : null
  }
}

const sharedFields = (application: Declared) =>
  application.reactions.flatMap(({ after, answers, about }) =>
    [after, ...answers].map((event) => [event, { about, topic: topicOfEvent(application, event)?.name }] as const),
  )

/** Returns true if the field contains a GUID in every event that has the field. */
function holdsGuid(field: string): boolean {
  return eventTypes.filter((type) => payloadFields(type).includes(field)).every((type) => isGuidField(type, field))
}
