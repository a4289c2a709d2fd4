import {
  _,
  Ajv2020,
  type AnySchemaObject,
  type CodeKeywordDefinition,
  type ErrorObject,
  type ValidateFunction,
} from 'ajv/dist/2020.js'
import { ContractError, eventFile, maxUniqueItems } from '../schemas/event-schemas.ts'
import { commonSchema, eventSchemas } from '../schemas/schemas.ts'
import { formats, regExp } from './formats.ts'

/**
 * Returns the Ajv instance with the shared schemas. The first call creates it.
 *
 * `allErrors` checks all rules, so a limit such as `maxLength` does not protect a slow rule next to it. Therefore each rule needs linear time:
 * event-schemas.ts refuses patterns with much backtracking, and `uniqueItems` ignores long lists, which `maxItems` rejects. `verbose` passes the
 * value to the hints. `code` is for build.ts. Only tests validate the schemas against their meta-schema, because
 * compiling the meta-schema is slow.
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
  // personal.ts reads this keyword.
  ajv.addKeyword({ keyword: 'x-pii', schemaType: 'boolean' })
  // `upcast` reads this keyword.
  ajv.addKeyword({ keyword: 'x-upcast', schemaType: 'object' })
  const uniqueItems = ajv.getKeyword('uniqueItems') as CodeKeywordDefinition
  ajv.removeKeyword('uniqueItems').addKeyword(forShortLists(uniqueItems))
  ajv.addSchema([withoutNot(commonSchema), ...eventSchemas.values()])
  return ajv
}

const forShortLists = (keyword: CodeKeywordDefinition): CodeKeywordDefinition => ({
  ...keyword,
  code: (context) => context.gen.if(_`${context.data}.length <= ${maxUniqueItems}`, () => keyword.code(context)),
})

/**
 * Removes `not` from `guid`, `date` and `dateTime`. Only other languages need `not`: there, `$` also matches before a line break, and a format
 * accepts the year 0.
 */
function withoutNot(common: AnySchemaObject): AnySchemaObject {
  const copy = structuredClone(common)
  for (const rule of ['guid', 'date', 'dateTime']) delete copy.$defs[rule].not
  return copy
}

/** @throws {ContractError} naming the schema's file and the path in it */
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

/** Moves the path to the beginning of a message of Ajv's strict mode. */
const located = (message: string) => message.replace(/^strict mode: (.*) at "[^#]*#(.*)" \(\w+\)$/, '$2: $1')
