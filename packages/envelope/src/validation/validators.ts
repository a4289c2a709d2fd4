import type { ValidateFunction } from 'ajv/dist/2020.js'
import { envelopeSchemas, eventSchemas } from '../schemas/schemas.ts'
import { compilePayload, sharedAjv } from './ajv.ts'

// In the package for outside publishers, build.ts replaces this file by compiled validators.

const ajv = sharedAjv()

/** Validators of the envelope without its Payload. */
export const envelopeValidators: { full: ValidateFunction; received: ValidateFunction } = {
  full: ajv.compile(envelopeSchemas.full),
  received: ajv.compile(envelopeSchemas.received),
}

/** Validators of a Payload, by event type. */
export const payloadValidators: ReadonlyMap<string, ValidateFunction> = new Map(
  Array.from(eventSchemas, ([type, schema]) => [type, compilePayload(type, schema)]),
)
