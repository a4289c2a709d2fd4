import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { asyncApiDocument, type ReceivedEnvelope, schemaDocuments } from '@orderflow/envelope-schema'
import { repository } from '../lib/paths.ts'
import { outsideTopics, partitions, services } from '../lib/services.ts'

const contract = join(repository, 'envelope-schema')
const write = (document: unknown) => `${JSON.stringify(document, null, 2)}\n`

/** envelope-schema/asyncapi.json: the topics, from services.json, and their messages, from the schemas and the valid fixtures. */
export function asyncApiFile(): string {
  const { version } = JSON.parse(readFileSync(join(contract, 'package.json'), 'utf8')) as { version: string }
  const applications = services.map(({ name, publishes, consumes }) => ({
    name,
    produces: publishes,
    consumes: Object.keys(consumes),
  }))
  return write(
    asyncApiDocument({
      version,
      applications,
      outside: outsideTopics,
      partitions: partitions.containers,
      examples: examples(),
    }),
  )
}

/** Those of the valid fixtures that are nothing but full, by their names: what is odd about the others is no example. */
function examples(): { description: string; envelope: ReceivedEnvelope }[] {
  const folder = join(contract, 'fixtures/valid')
  return readdirSync(folder)
    .filter((file) => file.startsWith('full-'))
    .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')))
}

/** The schemas without references, by their paths. Found files that no schema has any more are undefined. */
export function bundledSchemas(): [string, string | undefined][] {
  const folder = 'envelope-schema/bundled'
  const wanted = [...schemaDocuments()].filter(([path]) => path.startsWith('bundled/'))
  return [
    ...readdirSync(join(repository, folder)).map((file): [string, undefined] => [`${folder}/${file}`, undefined]),
    ...wanted.map(([path, document]): [string, string] => [`envelope-schema/${path}`, write(document)]),
  ]
}
