import { Ajv, type SchemaObject } from 'ajv'
import { Failure } from './failure.ts'

const closed = (properties: Record<string, SchemaObject>, required: string[] = []): SchemaObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const quantity = { type: 'integer', minimum: 0, maximum: 10 }
const type = { type: 'string', pattern: '^[a-z][a-z0-9_-]*$' }
const dockerImage = { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' }
const updates = (properties: Record<string, SchemaObject>) =>
  closed({ updates: { type: 'array', minItems: 1, items: closed({ type, ...properties }, ['type']) } }, ['updates'])

/** The schemas of request bodies. Requests without a schema must have an empty body. */
const schemas = {
  // The real platform has defaults for name and stack.
  app: closed({ name: { type: 'string', pattern: '^[a-z][a-z0-9-]{1,28}[a-z0-9]$' }, stack: { type: 'string' } }, [
    'name',
    'stack',
  ]),
  configVars: {
    type: 'object',
    propertyNames: { pattern: '^\\w+$' },
    additionalProperties: { type: ['string', 'null'] },
  },
  // The command-line tool sends a quantity as a string.
  formation: updates({
    quantity: { anyOf: [quantity, { type: 'string', pattern: '^\\d+$' }] },
    size: { type: 'string' },
  }),
  dockerFormation: updates({ quantity, docker_image: dockerImage }),
  dockerProcess: closed({ docker_image: { type: 'null' } }, ['docker_image']),
  rollback: closed({ release: { type: 'string', format: 'uuid' } }, ['release']),
  logSession: closed({
    dyno: { type: 'string' },
    type: { type: 'string' },
    lines: { type: 'integer', minimum: 1, maximum: 1500 },
    source: { enum: ['app', 'heroku'] },
    tail: { type: 'boolean' },
  }),
} satisfies Record<string, SchemaObject>

export type SchemaName = keyof typeof schemas

const ajv = new Ajv({
  allErrors: true,
  formats: { uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/ },
})
const validators = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, ajv.compile(schema)]))

/** @throws {Failure} 422 with every problem of a body */
export function requireValid(name: SchemaName, body: unknown): void {
  const validate = validators[name]
  if (!validate || validate(body ?? {})) return
  throw new Failure(422, 'invalid_params', ajv.errorsText(validate.errors, { dataVar: 'body' }))
}
