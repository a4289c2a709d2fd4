import { _, Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js'
import { commonSchema, eventSchemas } from '../schemas/schemas.ts'
import { formats, regExp } from './formats.ts'

/**
 * Ajv with all that the schemas use, and those that others refer to. `allErrors` lists every problem at once. It stays cheap on
 * hostile input, since the schemas have a fixed number of fields, loop over nothing, and hold only anchored patterns that cannot
 * backtrack. `verbose` gives hints the value. `code` is for build.ts, which writes the compiled validators into a file.
 * Made when it is first asked for: the package that others install may never ask. That schemas are what their meta-schema says is for
 * tests to see: to compile that one takes longer than all of ours.
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
  ajv.addFormat('date-time', formats['date-time'])
  // Says what a field is, and refuses nothing: see personal.ts.
  ajv.addKeyword({ keyword: 'x-pii', schemaType: 'boolean' })
  // Says how the Payload of the version before becomes one of this version: see upcast.ts.
  ajv.addKeyword({ keyword: 'x-upcast', schemaType: 'object' })
  ajv.addSchema([withoutNot(commonSchema), ...eventSchemas.values()])
  return ajv
}

/**
 * common.json as Ajv is to compile it: without what `guid` and `dateTime` say by `not`. In other languages `$` also matches before a
 * line break, and a format knows the year 0. Here the patterns and `formats` refuse both, and `not` makes an error of each text that is right.
 */
function withoutNot(common: AnySchemaObject): AnySchemaObject {
  const copy = structuredClone(common)
  delete copy.$defs.guid.not
  delete copy.$defs.dateTime.not
  return copy
}
