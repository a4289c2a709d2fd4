import { readFileSync } from 'node:fs'
import {
  type AsyncApiDocument,
  asyncApiPage,
  asyncApiPageSources,
  contractFolder,
  schemaDocuments,
} from '@orderflow/envelope'
import type { StaticFile } from '@orderflow/service-kit'

/** Returns the JSON Schemas, each under the path of its `$id`, and the AsyncAPI document with its page. */
export function contractFiles(): StaticFile[] {
  const document = readFileSync(new URL('asyncapi.json', contractFolder), 'utf8')
  const page = asyncApiPage(JSON.parse(document) as AsyncApiDocument)
  return [
    ...schemaFiles(),
    { path: '/asyncapi.json', type: 'application/json', content: document },
    { path: '/asyncapi', type: 'text/html; charset=utf-8', content: page, sources: asyncApiPageSources },
  ]
}

function schemaFiles(): StaticFile[] {
  const schemas = Array.from(schemaDocuments(), ([path, schema]) => ({
    path: `/schemas/${path}`,
    content: jsonOf(schema),
  }))
  const list = (prefix: string) => jsonOf({ schemas: schemas.map(({ path }) => prefix + path) })
  return [
    { path: '/schemas', type: 'application/json', content: list },
    ...schemas.map((schema) => ({ ...schema, type: 'application/schema+json' })),
  ]
}

const jsonOf = (value: object): string => `${JSON.stringify(value, null, 2)}\n`
