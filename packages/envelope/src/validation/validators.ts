import type { ValidateFunction } from 'ajv/dist/2020.js'
import { envelopeSchemas, eventSchemas } from '../schemas/schemas.ts'
import { compilePayload, sharedAjv } from './ajv.ts'

// build.ts replaces this file by compiled validators.

const ajv = sharedAjv()

export const envelopeValidators: { full: ValidateFunction; received: ValidateFunction } = {
  full: ajv.compile(envelopeSchemas.full),
  received: ajv.compile(envelopeSchemas.received),
}

export const payloadValidators: ReadonlyMap<string, ValidateFunction> = new Map(
  Array.from(eventSchemas, ([type, schema]) => [type, compilePayload(type, schema)]),
)
