import { _, Ajv2020, type AnySchemaObject, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { ContractError, eventFile } from '../schemas/event-schemas.ts'
import { commonSchema, eventSchemas } from '../schemas/schemas.ts'
import { formats, regExp } from './formats.ts'

/**
 * Returns the Ajv instance with the shared schemas, formats and keywords. `allErrors` lists every problem at once. It stays cheap on
 * hostile input, because the schemas have a fixed number of fields, no loops, and only anchored patterns that cannot backtrack.
 * `verbose` gives the value to hints. `code` is for build.ts, which writes the compiled validators into a file. The instance is made at
 * its first use, because the package for outside publishers may never need it. Tests check the schemas against their meta-schema:
 * compiling that takes longer than all others.
 */
export function sharedAjv(): Ajv2020 {
  shared ??= createAjv()
  return shared
}

let shared: Ajv2020 | undefined

function createAjv(): Ajv2020 {
  const code = { source: true, esm: true, formats: _`formats`, regExp }
  const ajv = new Ajv2020({
    strict: true,
    allErrors: true,
    verbose: true,
    ownProperties: true,
    validateSchema: false,
    code,
  })
  for (const [name, format] of Object.entries(formats)) ajv.addFormat(name, format)
  // Says what a field is, and refuses nothing: see personal.ts.
  ajv.addKeyword({ keyword: 'x-pii', schemaType: 'boolean' })
  // Says how the Payload of the version before becomes one of this version: see `upcast`.
  ajv.addKeyword({ keyword: 'x-upcast', schemaType: 'object' })
  ajv.addSchema([withoutNot(commonSchema), ...eventSchemas.values()])
  return ajv
}

/**
 * Returns common.json without the keyword `not` of `guid`, `date` and `dateTime`. In other languages, `$` also matches before a line break, and
 * a format accepts the year 0. Here the patterns and `formats` refuse both, and `not` would create an error for each valid text.
 */
function withoutNot(common: AnySchemaObject): AnySchemaObject {
  const copy = structuredClone(common)
  for (const rule of ['guid', 'date', 'dateTime']) delete copy.$defs[rule].not
  return copy
}

/**
 * Compiles the schema of an event's Payload.
 * @throws {ContractError} naming its file and the path in it
 */
export function compilePayload(type: string, schema: AnySchemaObject): ValidateFunction {
  try {
    return sharedAjv().compile(schema)
  } catch (error) {
    const meta = new Ajv2020({ allErrors: true })
    const flaws = meta.validateSchema(schema) ? [located((error as Error).message)] : (meta.errors ?? []).map(describe)
    throw new ContractError(
      [...new Set(flaws)].map((flaw) => `${eventFile(type)}: ${flaw}`),
      { cause: error },
    )
  }
}

const describe = ({ instancePath, message, params }: ErrorObject) =>
  `${instancePath}: ${message}${params.allowedValues ? `: ${params.allowedValues.join(', ')}` : ''}`

/** Returns a message of Ajv's strict mode with the path in front. */
const located = (message: string) => message.replace(/^strict mode: (.*) at "[^#]*#(.*)" \(\w+\)$/, '$2: $1')
