import type { ValidateFunction } from 'ajv/dist/2020.js'
import { envelopeSchemas, eventSchemas } from '../schemas/schemas.ts'
import { compilePayload, sharedAjv } from './ajv.ts'

// In the package that others install this file is its own outcome: build.ts compiles the validators once for all of them.

const ajv = sharedAjv()

/** Validators of the envelope alone. */
export const envelopeValidators: { full: ValidateFunction; received: ValidateFunction } = {
  full: ajv.compile(envelopeSchemas.full),
  received: ajv.compile(envelopeSchemas.received),
}

/** Validators of a Payload, by event type. */
export const payloadValidators: ReadonlyMap<string, ValidateFunction> = new Map(
  Array.from(eventSchemas, ([type, schema]) => [type, compilePayload(type, schema)]),
)
