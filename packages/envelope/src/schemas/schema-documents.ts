import type { AnySchemaObject } from 'ajv/dist/2020.js'
import { commonSchema, envelopeSchemas, eventSchemas, partsOf, type Variant, variants } from './schemas.ts'

/** The prefix of all schema ids. No web page has this address. */
export const schemaBase = 'https://orderflow.example/schemas/'

const fileOf = (type: string): string => `${type.replace('@', '.')}.json`

export function bundleOf(type: string, variant: Variant): string {
  return `bundled/${fileOf(type).replace(/json$/, `${variant}.json`)}`
}

/** Returns the schema of an event's whole envelope, for validators that cannot resolve references to other files. */
export function bundle(type: string, variant: Variant): AnySchemaObject {
  const { Name, Version } = partsOf(type)
  const { $schema, $id: _, properties, ...envelope } = envelopeSchemas[variant]
  const { $schema: __, $id: ___, ...payload } = eventSchemas.get(type) as AnySchemaObject
  const whole = {
    $schema,
    $id: schemaBase + bundleOf(type, variant),
    ...envelope,
    title: `${payload.title}: ${envelope.title}`,
    description: payload.description,
    properties: {
      ...properties,
      Version: { ...properties.Version, const: Version },
      Name: { ...properties.Name, const: Name },
      Payload: payload,
    },
  }
  const shared = commonSchema.$defs as Record<string, AnySchemaObject>
  const used = new Set<string>()
  const local = (value: unknown) => withLocalRefs(value, (name) => used.add(name))
  const bundled = local(whole) as AnySchemaObject
  const defs: Record<string, unknown> = {}
  for (const name of used) defs[name] = local(shared[name]) // `local` adds names to `used`, and this loop also visits these names
  return { ...bundled, $defs: Object.fromEntries(Object.entries(defs).sort(([a], [b]) => (a < b ? -1 : 1))) }
}

function withLocalRefs(value: unknown, onRef: (name: string) => void): unknown {
  if (Array.isArray(value)) return value.map((item) => withLocalRefs(item, onRef))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => {
    const name = key === '$ref' ? String(inner).split('/').at(-1) : undefined
    if (name === undefined) return [key, withLocalRefs(inner, onRef)]
    onRef(name)
    return [key, `#/$defs/${name}`]
  })
  return Object.fromEntries(entries)
}

/**
 * Returns every schema by its path, such as `events/Name.1.json` or `bundled/…`. References are relative to the `$id`.
 * @param base the address of the served schemas, with a slash at its end
 */
export function schemaDocuments(base = schemaBase): ReadonlyMap<string, AnySchemaObject> {
  const types = [...eventSchemas.keys()]
  const all: (readonly [path: string, schema: AnySchemaObject])[] = [
    ['common.json', commonSchema],
    ...variants.map((variant) => [`envelope.${variant}.json`, envelopeSchemas[variant]] as const),
    ...Array.from(eventSchemas, ([type, schema]) => [`events/${fileOf(type)}`, schema] as const),
    ...types.flatMap((type) => variants.map((variant) => [bundleOf(type, variant), bundle(type, variant)] as const)),
  ]
  return new Map(all.map(([path, schema]) => [path, { ...schema, $id: base + path }]))
}
