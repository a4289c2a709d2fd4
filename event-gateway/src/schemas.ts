import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { StaticFile } from '@orderflow/service-kit'

const folder = new URL('.', import.meta.resolve('@orderflow/envelope-schema/schemas/common.json'))

/** The contract's JSON Schemas, under the paths of their `$id`s, and a list of them. */
export function schemaFiles(): StaticFile[] {
  const names = readdirSync(fileURLToPath(folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.replaceAll('\\', '/'))
    .sort()
  const files = names.map((name) => ({
    path: `/schemas/${name}`,
    type: 'application/schema+json',
    content: readFileSync(new URL(name, folder), 'utf8'),
  }))
  const list = { schemas: files.map(({ path }) => path) }
  return [{ path: '/schemas', type: 'application/json', content: `${JSON.stringify(list, null, 2)}\n` }, ...files]
}
