import { readFileSync } from 'node:fs'
import { type EventName, eventTypes, isGuidField } from '@orderflow/envelope'
import { topicOfEvent } from '@orderflow/service-kit/application'
import { StackError } from '../lib/error.ts'
import { application } from '../lib/services.ts'

/** The event that a new service reacts to. */
export interface HeardEvent {
  name: string
  /** Name of its topic in generated types. */
  constant: string
  /** Field of the Payload that is the topic's key. */
  key: string
}

/** What the template names in place of the event. */
export const placeholder = JSON.parse(readFileSync(new URL('placeholders.json', import.meta.url), 'utf8')) as HeardEvent

/** Fields of every document, which the field of the key must not be called. */
const ownFields = ['id', 'createdAt', 'causationId', 'correlationId', 'traceId']

/**
 * Returns the event that a new service reacts to.
 * @param name without one, the first answer of the first reaction in services.json
 * @throws {StackError} `usage` for an event that no service publishes, or whose key is not one GUID
 */
export function heardEvent(name: string | undefined): HeardEvent & { topic: string } {
  const published = Object.values(application.services).flatMap(({ produces }) => Object.values(produces).flat())
  const event = name || application.reactions[0]?.answers[0] || published[0] || ''
  const topic = topicOfEvent(application, event)
  const isKnown = eventTypes.some((type) => type.startsWith(`${event}@`))
  if (!topic || !isKnown) {
    throw new StackError('usage', event ? `no service publishes ${event}` : 'no service publishes an event', {
      nextStep: `EVENT is one of ${published.join(', ')}`,
    })
  }
  const [key = '', ...others] = topic.key
  if (others.length > 0 || !isGuid(event as EventName, key)) {
    throw new StackError(
      'usage',
      `the key of ${topic.name} is ${topic.key.join(', ')}, which is not one GUID of ${event}`,
      {
        nextStep: 'take an EVENT of another topic',
      },
    )
  }
  return { name: event, constant: topic.constant, key, topic: topic.name }
}

function isGuid(name: EventName, field: string): boolean {
  try {
    return isGuidField(name, field)
  } catch {
    return false
  }
}

/** Returns what replaces each placeholder of the template. */
export function heardNames({ name, constant, key }: HeardEvent): ReadonlyMap<string, string> {
  const asVariable = (field: string) => {
    const variable = lower(field)
    return ownFields.includes(variable) ? `event${field}` : variable
  }
  return new Map([
    [placeholder.name, name],
    [placeholder.constant, constant],
    [placeholder.key, key],
    [lower(placeholder.key), asVariable(key)],
  ])
}

const lower = (word: string) => word.charAt(0).toLowerCase() + word.slice(1)
