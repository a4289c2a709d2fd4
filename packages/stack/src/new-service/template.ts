import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type EventName, eventNames, examplePayload, isGuidField, newestType, payloadFields } from '@orderflow/envelope'
import { watched } from '@orderflow/service-kit'
import { type Application, topicOfEvent } from '@orderflow/service-kit/application'
import { packagesVersion, repository, templateFile } from '../application/paths.ts'
import { application } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { filesIn } from '../base/files.ts'
import { isIdentifier } from '../base/identifier.ts'
import { identifiersIn, isReserved, lower, type Names, namesOf, requireUnused } from './names.ts'

/**
 * The folder of the template, which is a complete service for spare parts. No other code uses these words. TypeScript cannot check the template, only
 * services that are made from it.
 */
const folder = templateFile('new-service')

/**
 * Returns a new service's files by path. The files must be formatted afterwards, because the length of the name changes line breaks and the order of
 * imports.
 * @throws {CliError} `usage` if the code would use a name twice, or a reserved word
 */
export function serviceFiles(name: string, event: HeardEvent): Map<string, string> {
  const files = filesIn(folder).map((file) => [file.slice(folder.length + 1), readFileSync(file, 'utf8')] as const)
  const texts = new Map(files)
  const defined = new Map([...namesOf(name), ...heardVariables(event, [...texts.values()].join('\n'))])
  requireUnused(name, texts, (text) => renamed(text, defined))
  const names = new Map([...defined, ...heardNames(event), ...packageNames(name), [newAppId, randomUUID()]])
  const own = new Map(files.map(([path, text]) => [renamed(path, names), renamed(text, names)]))
  return own.set('test/reads.json', readsFile(event))
}

/** Returns test/reads.json. The service keeps the whole event, so it reads all of its fields. */
function readsFile({ name }: HeardEvent): string {
  const event = eventNames.find((known) => known === name)
  const fields: string[] = []
  if (event) JSON.stringify(watched(examplePayload(event), '', (pointer) => fields.push(pointer)))
  return `${JSON.stringify(event ? { [newestType(event)]: fields.toSorted() } : {}, null, 2)}\n`
}

/** The AppId of the template. */
const newAppId = '00000000-0000-4000-8000-000000000000'

/** Maps the packages of this repository to those of the application, and their versions. */
function packageNames(name: string): Names {
  const read = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const contract = read(join(repository, 'envelope-schema')) as { name: string; version: string }
  const { dependencies = {} } = read(repository) as { dependencies?: Record<string, string> }
  // An application names the archive or the version of its packages in one place.
  const cli = dependencies['@orderflow/cli'] ?? packagesVersion
  const specOf = (own: string) => cli.replace(/^file:(.*)-cli-/, `file:../$1-${own}-`)
  return new Map([
    ['@orderflow/spare-part-service', `${contract.name.replace(/\/.*/, '')}/${name}`],
    ['"version": "0.0.0"', `"version": "${contract.version}"`],
    ['"@orderflow/envelope-schema": "0.0.0"', `"${contract.name}": "${contract.version}"`],
    ...['service-kit', 'test-kit'].map((own): [string, string] => [
      `"@orderflow/${own}": "0.0.0"`,
      `"@orderflow/${own}": "${specOf(own)}"`,
    ]),
    ['@orderflow/envelope-schema', contract.name],
  ])
}

function renamed(text: string, names: Names): string {
  const placeholders = [...names.keys()].sort((a, b) => b.length - a.length)
  return text.replaceAll(
    new RegExp(placeholders.join('|'), 'g'),
    (placeholder) => names.get(placeholder) ?? placeholder,
  )
}

interface HeardEvent {
  name: string
  /** The name of the topic's constant in generated code. */
  constant: string
  key: string
}

export const placeholder: HeardEvent = { name: 'SomethingHappened', constant: 'someEvents', key: 'ThingId' }

/** A service handles the deadlines and calls of its own entities without a reaction. */
const offered = eventNames.filter((name: string) => name !== 'DeadlinePassed' && name !== 'CallAnswered')

/**
 * Returns the event that a new service consumes. `key` is the key field of the topic if that is a single GUID, otherwise the first GUID field of the
 * Payload.
 * @param name by default the first answer of the first reaction in services.json, or the first event of a topic
 * @throws {CliError} `usage` for an event without a schema, a topic or a GUID
 */
export function heardEvent(name: string | undefined, app: Application = application): HeardEvent & { topic: string } {
  const topicOf = (event: string) => topicOfEvent(app, event)
  const wanted = name || app.reactions[0]?.answers[0] || offered.find(topicOf) || offered[0]
  const event = offered.find((known) => known === wanted)
  if (event === undefined) {
    throw new CliError('usage', wanted ? `${wanted} has no schema` : 'the application has no events yet', {
      nextStep:
        offered.length > 0
          ? `EVENT is one of ${offered.join(', ')}`
          : 'write the schema of an event (docs/own-application.md)',
    })
  }
  const topic = topicOf(event)
  if (topic === undefined) {
    throw new CliError('usage', `no topic of services.json has the event ${event}`, {
      nextStep: `add "${event}" to "outside" of the topic for outside publishers, or to "produces" of the service that publishes it, then run make generate`,
    })
  }
  const key = [...(topic.key.length === 1 ? topic.key : []), ...payloadFields(event)].find((field) =>
    isGuid(event, field),
  )
  if (key === undefined) {
    throw new CliError('usage', `${event} has no GUID field, which the service needs for the ids of documents`, {
      nextStep: 'choose another EVENT, or add such a field to its schema',
    })
  }
  return { name: event, constant: topic.constant, key, topic: topic.name }
}

/**
 * Also checks that the event has the field, because perhaps only other events of the topic have it. The name becomes one of a variable, with a prefix
 * if necessary.
 */
const isGuid = (event: EventName, field: string) =>
  isIdentifier(`event${field}`) && payloadFields(event).includes(field) && isGuidField(event, field)

/** Maps the variables of the event. */
function heardVariables({ constant, key }: HeardEvent, code: string): Names {
  const field = lower(placeholder.key)
  const used = identifiersIn(code)
  used.delete(field)
  const variable = lower(key)
  return new Map([
    [placeholder.constant, constant],
    // For example, every document already has an id.
    [field, used.has(variable) || isReserved(variable) ? `event${key}` : variable],
  ])
}

/** Maps the names of the event and its field, which code uses only in strings and as properties. */
const heardNames = ({ name, key }: HeardEvent): Names =>
  new Map([
    [placeholder.name, name],
    [`${placeholder.name}@1`, newestType(name)],
    [placeholder.key, key],
  ])
