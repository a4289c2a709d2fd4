import { amountFlaw, type Currency, type EventType, fieldSchema } from '@orderflow/envelope-schema'
import { inheritPersonal } from '../telemetry/mask.ts'

/** A JSON Schema as OpenAPI 3.0 has it. */
export type Schema = { [keyword: string]: unknown }

/** A rule of the API for a field, beyond the contract's. */
export interface NarrowRule {
  /** Added to the contract's schema on the page. */
  schema: Schema
  /** Returns what is wrong with a value, in place of what the contract says; undefined for nothing, and for values of another type. */
  flaw(value: unknown): string | undefined
}

/** A field of an event's payload, such as `['Name@1', 'Field']`: the contract has its rules, and the API may have one more. */
export type ContractField = readonly [type: EventType, field: string, rule?: NarrowRule]

/** What a field is: as the contract has it, or as its schema says. */
export type Field = ContractField | Schema

/** An object of the API, under the name that the page shows it by. `T` is what it is in the code. */
export interface Model<T> {
  name: string
  schema: Schema
  /** Models that the schema refers to. */
  uses?: readonly Model<unknown>[]
  /** Only for the compiler: a model of one type is none of another. */
  readonly of?: T
}

/** An object that the API answers with. Each field of `T` is described, those of the contract by the contract. */
export function model<T>(name: string, fields: { [K in keyof T & string]-?: Field }): Model<T> {
  return { name, schema: { type: 'object', properties: propertiesOf(fields) } }
}

/** Where the page's document keeps a model's schema. */
export const referenceTo = ({ name }: Model<unknown>): Schema => ({ $ref: `#/components/schemas/${name}` })

/** The schemas of fields, by name. One that is personal in the contract is so here, whatever its name. */
export function propertiesOf(fields: Record<string, Field>): Record<string, Schema> {
  const schemas = Object.entries(fields).map(([name, field]) => [name, schemaOf(field)] as const)
  for (const [name, schema] of schemas) if (schema['x-pii']) inheritPersonal(name)
  return Object.fromEntries(schemas)
}

function schemaOf(field: Field): Schema {
  return isContractField(field) ? { ...fieldSchema(field[0], field[1]), ...field[2]?.schema } : field
}

/** Array.isArray does not narrow to a readonly tuple. */
function isContractField(field: Field): field is ContractField {
  return Array.isArray(field)
}

/** Schemas that no event has a field for. */
export const text: Schema = { type: 'string' }
export const guidText: Schema = { type: 'string', format: 'uuid' }
export const dateTime: Schema = { type: 'string', format: 'date-time' }

/** What a request may set as an amount. An event may also have 0. */
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
