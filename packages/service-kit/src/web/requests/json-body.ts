import { fieldValidator, isGuidField, type Problem } from '@orderflow/envelope-schema'
import type { Request } from 'express'
import { type FieldError, invalid } from '../problems/problem.ts'
import type { Input } from './input.ts'
import { type ContractField, propertiesOf } from './model.ts'

type ContractFields<T> = { [K in keyof T & string]: ContractField }

/**
 * A JSON body whose fields obey the contract: each names the event payload field whose rules it takes over, so that what the API
 * accepts is what the event may say, and the page says the same. All fields are required.
 * @param name of the schema on the page
 * @param example the body that the page offers to send
 */
export function jsonBody<T extends object>(name: string, fields: ContractFields<T>, example: T): Input<T> {
  const read = bodyReader<T>(fields)
  const schema = { type: 'object', required: Object.keys(fields), properties: propertiesOf(fields), example }
  return { read: ({ body }: Request) => read(body), body: { name, schema }, problems: [400, 413, 415] }
}

/**
 * The reader of such a body: GUIDs come lower-cased, and fields that are not listed do not come at all.
 * @throws {HttpProblem} (the reader) 400 naming each field by its JSON pointer
 */
export function bodyReader<T>(fields: ContractFields<T>): (body: unknown) => T {
  const all = Object.entries<ContractField>(fields)
  const validate = fieldValidator(Object.fromEntries(all.map(([name, [type, field]]) => [name, [type, field]])))
  const readers = all.map(([name, [type, field]]) => ({
    name,
    read: isGuidField(type, field) ? (value: unknown) => String(value).toLowerCase() : (value: unknown) => value,
  }))
  return (body) => {
    const given = (body === undefined ? {} : body) as Record<string, unknown>
    const flaws = all.flatMap(([name, [, , rule]]): FieldError[] => {
      const detail = rule?.flaw(Object(given)[name])
      return detail === undefined ? [] : [{ pointer: `/${name}`, detail }]
    })
    const narrowed = new Set(flaws.map(({ pointer }) => pointer))
    const errors = validate(given).map(fieldError)
    const others = errors.filter(({ pointer }) => !narrowed.has(pointer))
    if (others.length + flaws.length > 0) throw invalid([...others, ...flaws])
    return Object.fromEntries(readers.map(({ name, read }) => [name, read(given[name])])) as T
  }
}

function fieldError({ pointer, message, hint }: Problem): FieldError {
  return { pointer, detail: hint ? `${message} (${hint})` : message }
}
