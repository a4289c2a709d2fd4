import {
  amountFlaw,
  type CamelCase,
  type Currency,
  camelCaseName,
  type EventName,
  type EventType,
  fieldSchema,
  type PayloadOf,
  payloadFields,
} from '@orderflow/envelope'

/** A JSON Schema of OpenAPI 3.0. */
export type Schema = { [keyword: string]: unknown }

/** A rule of the API for a field, in addition to the contract's. */
export interface NarrowRule {
  /** Keywords that the page shows in addition to the contract's schema. */
  schema: Schema
  /** Returns a value's error, which replaces the contract's; undefined for none, and for values of another type. */
  flaw(value: unknown): string | undefined
}

/**
 * A field of an event's payload in the newest version, such as `['Name', 'Field']`, or in another one, `['Name@1', 'Field']`. The contract's
 * rules apply, and optionally a rule of the API.
 */
export type ContractField = readonly [type: EventType | EventName, field: string, rule?: NarrowRule]

/** A field, defined by the contract or by its own schema. */
export type Field = ContractField | Schema

/** An object of the API, under its name on the page. `T` is its type in the code. */
export interface Model<T> {
  name: string
  schema: Schema
  /** Models that the schema refers to. */
  uses?: readonly Model<unknown>[]
  /** Only for the compiler, which thereby distinguishes models of different types. */
  readonly of?: T
}

/**
 * Returns all fields of an event's payload in its newest version, under their names in an API: `GivenName` is `givenName`. So a field
 * that a new version has is in the API, too.
 * @param omitted fields that the API does not have, or has under other names
 */
export function contractFields<N extends EventName, Omitted extends keyof PayloadOf<N> & string>(
  name: N,
  ...omitted: Omitted[]
): { [K in keyof CamelCase<Omit<PayloadOf<N>, Omitted>>]-?: ContractField } {
  const names = payloadFields(name).filter((field) => !(omitted as string[]).includes(field))
  return Object.fromEntries(names.map((field) => [camelCaseName(field), [name, field]])) as never
}

/** Creates the model of an object in answers. Every field of `T` is described, the contract's fields by the contract. */
export function model<T>(name: string, fields: { [K in keyof T & string]-?: Field }): Model<T> {
  return { name, schema: { type: 'object', properties: propertiesOf(fields) } }
}

/** Returns a reference to a model's schema in the page's document. */
export const referenceTo = ({ name }: Model<unknown>): Schema => ({ $ref: `#/components/schemas/${name}` })

/** Returns the schemas of fields, by name. */
export function propertiesOf(fields: Record<string, Field>): Record<string, Schema> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOf(field)]))
}

/** Returns the names of the properties that are personal by the contract, at any depth of a schema or document. */
export function personalIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, inner]) => [
    ...(Object(inner)['x-pii'] ? [name] : []),
    ...personalIn(inner),
  ])
}

function schemaOf(field: Field): Schema {
  return isContractField(field) ? { ...fieldSchema(field[0], field[1]), ...field[2]?.schema } : field
}

/** Narrows the type: Array.isArray does not narrow to a readonly tuple. */
function isContractField(field: Field): field is ContractField {
  return Array.isArray(field)
}

/** Schemas of fields that no event has. */
export const text: Schema = { type: 'string' }
export const guidText: Schema = { type: 'string', format: 'uuid' }
export const dateTime: Schema = { type: 'string', format: 'date-time' }

/** Returns the rule for an amount in a request. An event may also have 0. */
export const amountRule = ({ code, decimals }: Currency): NarrowRule => ({
  schema: {
    minimum: 10 ** -decimals,
    description: `An amount in ${code}: greater than 0, with at most ${decimals} decimals.`,
    'x-decimals': decimals,
  },
  flaw(value) {
    if (typeof value !== 'number') return undefined
    return value > 0 ? amountFlaw(value, { code, decimals }) : 'must be greater than 0'
  },
})
