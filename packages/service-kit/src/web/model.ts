import {
  type CamelCase,
  camelCaseName,
  type EventType,
  fieldSchema,
  newestType,
  type PayloadOf,
  payloadFields,
} from '@orderflow/envelope'
import { amountFlaw, type Currency } from '../money/money.ts'

/** A JSON Schema of OpenAPI 3.0. */
export type Schema = { [keyword: string]: unknown }

/** A rule of the API that is stricter than the contract's rule. */
interface NarrowRule {
  schema: Schema
  /** Returns the error of a value, which replaces the contract's error. Undefined for a valid value, or a value of the wrong type. */
  flaw(value: unknown): string | undefined
}

/** A field of a payload, such as `['Name@1', 'Field']`, with an optional rule of the API. */
export type ContractField = readonly [type: EventType, field: string, rule?: NarrowRule]

export type Field = ContractField | Schema

/** An object of the API, with its name in the OpenAPI document. */
export interface Model<T> {
  name: string
  schema: Schema
  uses?: readonly Model<unknown>[]
  /** Makes models of different types distinct for the compiler. The field is never set. */
  readonly of?: T
}

/**
 * Returns all fields of an event's payload, under their names in an API: `GivenName` is `givenName`.
 * @param type `Name@1`, because the API stays the same when the contract gets a newer version
 * @param omitted the fields that the API does not have, or that have different names in the API
 * @throws {Error} for a name without a version
 */
export function contractFields<T extends EventType, Omitted extends keyof PayloadOf<T> & string = never>(
  type: T,
  ...omitted: Omitted[]
): { [K in keyof CamelCase<Omit<PayloadOf<T>, Omitted>>]-?: ContractField } {
  const names = payloadFields(withVersion(type)).filter((field) => !(omitted as string[]).includes(field))
  return Object.fromEntries(names.map((field) => [camelCaseName(field), [type, field]])) as never
}

function withVersion(type: EventType): EventType {
  const newest: string = newestType(type)
  if (newest === type) return type
  throw new Error(`${type} has no version: write ${newest}, because another version of the event would change the API`)
}

/** Creates the model of an object in answers. The contract describes its fields. */
export function model<T>(name: string, fields: { [K in keyof T & string]-?: Field }): Model<T> {
  return { name, schema: { type: 'object', properties: propertiesOf(fields) } }
}

export const referenceTo = ({ name }: Model<unknown>): Schema => ({ $ref: `#/components/schemas/${name}` })

export const propertiesOf = (fields: Record<string, Field>): Record<string, Schema> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOf(field)]))

const schemaOf = (field: Field): Schema =>
  isContractField(field) ? { ...fieldSchema(withVersion(field[0]), field[1]), ...field[2]?.schema } : field

/** Narrows the type of a readonly tuple. `Array.isArray` alone does not narrow it. */
const isContractField = (field: Field): field is ContractField => Array.isArray(field)

export const text: Schema = { type: 'string' }
export const guidText: Schema = { type: 'string', format: 'uuid' }
export const dateTime: Schema = { type: 'string', format: 'date-time' }

/** Returns the rule that an amount in a request must be above 0. In events, 0 is also allowed. */
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

/** Returns the model of a page of a list. `next` is null on the last page. */
export function pageOf<T>(item: Model<T>): Model<{ items: T[]; next: string | null }> {
  return {
    name: `${item.name}Page`,
    schema: {
      type: 'object',
      properties: {
        items: { type: 'array', items: referenceTo(item) },
        next: { type: 'string', nullable: true },
      },
    },
    uses: [item],
  }
}
