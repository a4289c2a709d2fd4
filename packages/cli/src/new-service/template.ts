import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type EventName, eventNames, isGuidField, payloadFields } from '@orderflow/envelope'
import { type Application, topicOfEvent } from '@orderflow/service-kit/application'
import { CliError } from '../lib/error.ts'
import type { ServicePorts } from '../lib/ports.ts'
import { application } from '../lib/services.ts'

/** The ports in a new service's settings. */
export type NewPorts = Pick<ServicePorts, 'http' | 'https' | 'channel' | 'metrics' | 'daprHttp' | 'daprGrpc'>

/**
 * A whole service, of spare parts, so that no word in it means anything else. It is linted as it is. Types are checked in services that are made
 * from it, because its event has no schema.
 */
const folder = fileURLToPath(new URL('template', import.meta.url))

/**
 * The files of a new service, by their path in its folder. What they are called decides where the formatter breaks lines and how it
 * sorts imports, so they want to be formatted.
 * @throws {CliError} `usage` when the name will not do
 */
export function serviceFiles(name: string, ports: NewPorts, event: HeardEvent): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => [file.slice(folder.length + 1), readFileSync(file, 'utf8')] as const)
  const own = namesOf(name, files.map(([, text]) => text).join('\n'))
  const names = new Map([...own, ...heardNames(event)])
  return new Map(files.map(([path, text]) => [renamed(path, names), renamed(settled(path, text, ports), names)]))
}

function renamed(text: string, names: Names): string {
  const placeholders = [...names.keys()].sort((a, b) => b.length - a.length)
  return text.replaceAll(
    new RegExp(placeholders.join('|'), 'g'),
    (placeholder) => names.get(placeholder) ?? placeholder,
  )
}

/** The settings have an id and ports that nobody else has; in the template they are these. */
function settled(path: string, text: string, ports: NewPorts): string {
  if (path !== 'appsettings.json') return text
  const { http, https, channel, metrics, daprHttp, daprGrpc } = ports
  const numbers = { 60001: http, 60002: https, 60003: channel, 60004: daprHttp, 60005: daprGrpc, 60006: metrics }
  return text
    .replace('00000000-0000-4000-8000-000000000000', randomUUID())
    .replaceAll(/6000[1-6]/g, (number) => String(numbers[number as unknown as keyof typeof numbers]))
}

/** A service's name in the forms that its code has it in, by the form in the template. */
type Names = ReadonlyMap<string, string>

const maxLength = 40
const form = /^[a-z][a-z0-9]*(-[a-z0-9]+)*-service$/

/**
 * The forms of a name such as `gift-card-service`.
 * @param code the template's files: a name that they have for something else would make two things of one name
 * @throws {CliError} `usage` saying what a name looks like
 */
export function namesOf(name: string, code: string): Names {
  if (!form.test(name) || name.length > maxLength) {
    throw new CliError('usage', name ? `${name} is no name of a service` : 'which name?', {
      nextStep: `NAME is lower-case words with hyphens that end in -service, at most ${maxLength} characters`,
    })
  }
  const words = name.split('-').slice(0, -1)
  const pascal = words.map(capital).join('')
  if (pascal in globalThis || new RegExp(`\\b${pascal}\\b`).test(code)) {
    throw new CliError(
      'usage',
      `${name} would have a ${pascal} of its own beside the ${pascal} that every service has`,
      {
        nextStep: `take a name that says more, such as ${words[0] === 'order' ? 'my' : 'order'}-${name}`,
      },
    )
  }
  const many = [...words.slice(0, -1), plural(words.at(-1) ?? '')]
  return new Map([
    ['spare-parts', many.join('-')],
    ['spare-part', words.join('-')],
    ['spareParts', lower(many.map(capital).join(''))],
    ['sparePart', lower(pascal)],
    ['SparePart', pascal],
    ['Spare parts', capital(many.join(' '))],
    ['Spare part', capital(words.join(' '))],
    ['spare parts', many.join(' ')],
    ['spare part', words.join(' ')],
  ])
}

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
const lower = (word: string) => word.charAt(0).toLowerCase() + word.slice(1)

function plural(word: string): string {
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`
  return /(s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`
}

/** The event that a new service reacts to. */
interface HeardEvent {
  name: string
  /** Name of its topic in generated types. */
  constant: string
  /** Field of the Payload, a GUID, of which the service keeps a document each. */
  key: string
}

/** The placeholders for the event in the template. */
export const placeholder: HeardEvent = { name: 'SomethingHappened', constant: 'someEvents', key: 'ThingId' }

/** Fields of every document, which the field of the key must not be called. */
const ownFields = ['id', 'createdAt', 'causationId', 'correlationId', 'traceId']

/**
 * Returns the event that a new service reacts to. Its key is the topic's key if that is one GUID, otherwise the first GUID of the Payload.
 * @param name without one, the first answer of the first reaction in services.json, or the first event of a topic
 * @throws {CliError} `usage` for an event without a schema, a topic or a GUID
 */
export function heardEvent(name: string | undefined, app: Application = application): HeardEvent & { topic: string } {
  const topicOf = (event: string) => topicOfEvent(app, event)
  const wanted = name || app.reactions[0]?.answers[0] || eventNames.find(topicOf) || eventNames[0]
  const event = eventNames.find((known) => known === wanted)
  if (event === undefined) {
    throw new CliError('usage', wanted ? `there is no schema of ${wanted}` : 'there is no event yet', {
      nextStep:
        eventNames.length > 0
          ? `EVENT is one of ${eventNames.join(', ')}`
          : 'write the schema of one (docs/own-domain.md)',
    })
  }
  const topic = topicOf(event)
  if (topic === undefined) {
    throw new CliError('usage', `${event} is an event of no topic in services.json`, {
      nextStep: `add "${event}" to "outside" of the topic to which outside applications publish it, or to "produces" of the service that publishes it, then make generate`,
    })
  }
  const key = [...(topic.key.length === 1 ? topic.key : []), ...payloadFields(event)].find((field) =>
    isGuid(event, field),
  )
  if (key === undefined) {
    throw new CliError('usage', `no field of ${event} is a GUID, of which the service could keep a document each`, {
      nextStep: 'take another EVENT, or add such a field to its schema',
    })
  }
  return { name: event, constant: topic.constant, key, topic: topic.name }
}

/** A topic's key may be a field that this event does not have. */
const isGuid = (event: EventName, field: string) => payloadFields(event).includes(field) && isGuidField(event, field)

/** Returns what replaces each placeholder of the template. */
function heardNames({ name, constant, key }: HeardEvent): ReadonlyMap<string, string> {
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
