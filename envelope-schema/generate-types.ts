import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { compile } from 'json-schema-to-typescript'

type Schema = Parameters<typeof compile>[0]

const schemas = new URL('schemas/', import.meta.url)
export const generatedFile = new URL('src/types.gen.ts', import.meta.url)

const banner = '// Generated from schemas/ by `npm run types -w @orderflow/envelope-schema`. Do not edit.\n'

function read(path: string): Schema {
  return JSON.parse(readFileSync(new URL(path, schemas), 'utf8')) as Schema
}

const shared = read('common.json').$defs ?? {}

/**
 * The schema with its references to common.json filled in. Done here because the generator would turn every titled
 * definition into a type of its own, numbered where two schemas use the same one.
 */
function withoutRefs({ $ref, title: _, not: __, ...schema }: Schema): Schema {
  const target = $ref ? withoutRefs(shared[$ref.split('/').at(-1) ?? ''] ?? {}) : {}
  const properties = Object.entries(schema.properties ?? {}).map(([name, field]) => [name, withoutRefs(field)])
  const filled: Schema = { ...target, ...schema }
  if (properties.length > 0) filled.properties = Object.fromEntries(properties)
  else if (filled.type === 'object') filled.additionalProperties = true
  return filled
}

/** The text of src/types.gen.ts: an interface for each variant of the envelope and for each version of a payload. */
export async function generateTypes(): Promise<string> {
  const named: [string, string][] = [
    ['FullEnvelope', 'envelope.full.json'],
    ['ReceivedEnvelope', 'envelope.received.json'],
  ]
  for (const file of readdirSync(new URL('events/', schemas)).sort()) {
    const [name, version] = file.split('.')
    named.push([`${name}V${version}`, `events/${file}`])
  }
  const parts = named.map(([name, path]) => {
    const { $id: _, ...schema } = withoutRefs(read(path))
    return compile(schema, name, {
      additionalProperties: false, // undeclared fields pass, but are not typed: `Omit` and narrowing need exact keys
      bannerComment: '',
      format: true,
      style: { semi: false, singleQuote: true, printWidth: 120 },
    })
  })
  return [banner, ...(await Promise.all(parts))].join('\n')
}

if (import.meta.main) writeFileSync(generatedFile, await generateTypes())
