import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { asyncApiDocument, type ReceivedEnvelope, schemaDocuments } from '@orderflow/envelope'
import { type Application, eventsOf, topicOfEvent } from '@orderflow/service-kit/application'
import { applicationName, repository } from '../application/paths.ts'
import { application, outsideEvents, partitions, services } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { isIdentifier } from '../base/identifier.ts'
import { appIdOf } from './components.ts'

const contract = join(repository, 'envelope-schema')
const write = (document: unknown) => `${JSON.stringify(document, null, 2)}\n`

const packageIn = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string; version: string }

/** Returns envelope-schema/asyncapi.json: topics with their messages, from the schemas and valid fixtures. */
export function asyncApiFile(): string {
  const { version } = packageIn(contract)
  const applications = services.map(({ name, publishes, consumes }) => ({
    name,
    produces: publishes,
    consumes: Object.keys(consumes),
  }))
  return write(
    asyncApiDocument({
      title: applicationName,
      version,
      applications,
      outside: outsideEvents,
      partitions: partitions.containers,
      keys: Object.fromEntries(application.topics.map(({ name, key }) => [name, key])),
      examples: examples(),
    }),
  )
}

const topicsWithEvents = (app: Application = application) =>
  app.topics.map((topic) => ({ ...topic, events: eventsOf(app, topic) }))

/** @throws {CliError} `usage` for a constant that is a reserved word of TypeScript */
export function topicConstants(app?: Application): string {
  const constants = topicsWithEvents(app).map(({ name, constant, events }) => {
    if (!isIdentifier(constant)) {
      const problem = `/topics/${name} of services.json would define the constant ${constant}, which is reserved`
      throw new CliError('usage', problem, { nextStep: 'add a "constant" with another name to the topic' })
    }
    const doc = events.length > 0 ? `Topic of ${events.join(', ')}.` : 'Topic without an event.'
    return `/** ${doc} */\nexport const ${constant} = '${name}'\n`
  })
  return ['// Generated from services.json by make generate. Do not edit.\n', ...constants].join('\n')
}

/** Returns envelope-schema/topics.json: the partition key, the events of each topic, and those that others may publish. */
export function topicsFile(): string {
  return write(
    Object.fromEntries(topicsWithEvents().map(({ name, key, events, outside }) => [name, { key, events, outside }])),
  )
}

/** Returns the valid fixtures that have all fields. */
function examples(): { description: string; envelope: ReceivedEnvelope }[] {
  const folder = join(contract, 'fixtures/valid')
  return filesIn(folder)
    .filter((file) => file.startsWith('full-'))
    .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')))
    .map(({ description, envelope }) => ({ description, envelope: { ...envelope, ...publisherOf(envelope.Name) } }))
}

/** Returns the publisher of an example: an outside publisher if it may publish the event, otherwise the service that publishes it. */
function publisherOf(event: string): { AppId: string; AppName: string } {
  const service = services.find(({ publishes }) => Object.values(publishes).flat().includes(event))
  return service && !topicOfEvent(application, event)?.outside.includes(event)
    ? { AppId: appIdOf(service), AppName: service.name }
    : { AppId: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b', AppName: 'older-application' }
}

/** Returns the bundled schemas by path. The value is undefined for a removed schema. */
export function bundledSchemas(): [string, string | undefined][] {
  const folder = 'envelope-schema/bundled'
  const wanted = [...schemaDocuments()].filter(([path]) => path.startsWith('bundled/'))
  return [
    ...filesIn(join(repository, folder)).map((file): [string, undefined] => [`${folder}/${file}`, undefined]),
    ...wanted.map(([path, document]): [string, string] => [`envelope-schema/${path}`, write(document)]),
  ]
}

/** Returns an empty list for a missing folder, because a new application does not have this folder yet. */
const filesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])
