import { readFileSync } from 'node:fs'
import { type EventType, eventTypes, isGuidField } from '@orderflow/envelope-schema'
import { topicOfEvent } from '@orderflow/service-kit/application'
import { StackError } from '../lib/error.ts'
import { application } from '../lib/services.ts'

/** The event that a new service reacts to. */
export interface HeardEvent {
  /** Name and Version. */
  type: string
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
 * Returns the event that a new service reacts to, in its newest version.
 * @param name without one, the first answer of the first reaction in services.json
 * @throws {StackError} `usage` for an event that no service publishes, or whose key is not one GUID
 */
export function heardEvent(name: string | undefined): HeardEvent & { topic: string } {
  const published = Object.values(application.services).flatMap(({ produces }) => Object.values(produces).flat())
  const event = name || application.reactions[0]?.answers[0] || published[0] || ''
  const topic = topicOfEvent(application, event)
  const type = eventTypes.findLast((each) => each.startsWith(`${event}@`))
  if (!topic || !type) {
    throw new StackError('usage', event ? `no service publishes ${event}` : 'no service publishes an event', {
      nextStep: `EVENT is one of ${published.join(', ')}`,
    })
  }
  const [key = '', ...others] = topic.key
  if (others.length > 0 || !isGuid(type, key)) {
    throw new StackError(
      'usage',
      `the key of ${topic.name} is ${topic.key.join(', ')}, which is not one GUID of ${event}`,
      {
        nextStep: 'take an EVENT of another topic',
      },
    )
  }
  return { type, constant: topic.constant, key, topic: topic.name }
}

function isGuid(type: EventType, field: string): boolean {
  try {
    return isGuidField(type, field)
  } catch {
    return false
  }
}

/** Returns what replaces each placeholder of the template. */
export function heardNames({ type, constant, key }: HeardEvent): ReadonlyMap<string, string> {
  const nameIn = (text: string) => text.slice(0, text.indexOf('@'))
  const asVariable = (field: string) => {
    const variable = lower(field)
    return ownFields.includes(variable) ? `event${field}` : variable
  }
  return new Map([
    [placeholder.type, type],
    [nameIn(placeholder.type), nameIn(type)],
    [placeholder.constant, constant],
    [placeholder.key, key],
    [lower(placeholder.key), asVariable(key)],
  ])
}

const lower = (word: string) => word.charAt(0).toLowerCase() + word.slice(1)
