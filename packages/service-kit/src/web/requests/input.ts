import { isPlainKey } from '@orderflow/envelope-schema'
import type { Request } from 'express'
import { invalid } from '../problems/problem.ts'
import type { BodyKind } from './body.ts'
import type { Model, Schema } from './model.ts'

/** An OpenAPI parameter object. */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
  example?: string
}

/** Something that a request brings: how it is read, and what the page says of it, in one. */
export interface Input<T> {
  /** @throws {HttpProblem} 400 naming what is wrong */
  read(request: Request): T
  /** Parameters that it is read from. */
  parameters?: readonly Parameter[]
  /** The JSON body that it is read from. */
  body?: Model<unknown>
  /** Set for a body that is not a small JSON text: what it may be (`request.body`, undefined for none). */
  receives?: BodyKind
  /** Status codes of the problems that it brings along. */
  problems: readonly number[]
}

/** The inputs of an operation, by the names that its handler has them under. */
export type Inputs = Record<string, Input<unknown>>

/** What a handler gets: each input as it was read. */
export type Values<I extends Inputs> = { [K in keyof I]: I[K] extends Input<infer T> ? T : never }

/** Reads all inputs, in their order. @throws {HttpProblem} also for a query parameter that none of them has */
export function readInputs<I extends Inputs>(inputs: I, request: Request): Values<I> {
  refuseUnknownQuery(Object.values(inputs), request)
  const values = Object.entries(inputs).map(([name, input]) => [name, input.read(request)])
  return Object.fromEntries(values) as Values<I>
}

/** A mistyped parameter would be ignored without a word: `?next=` in place of `?cursor=` returns the first page for ever. */
function refuseUnknownQuery(inputs: readonly Input<unknown>[], { query }: Request): void {
  const names = inputs.flatMap(({ parameters = [] }) => parameters.filter((one) => one.in === 'query'))
  const known = new Set(names.map(({ name }) => name))
  const detail = `is not a query parameter here; there are ${[...known].join(', ') || 'none'}`
  const unknown = Object.keys(query).filter((name) => !known.has(name))
  // Any other name may hold personal data.
  const shown = new Set(unknown.map((name) => (isPlainKey(name) ? name : '***')))
  if (shown.size > 0) throw invalid(Array.from(shown, (pointer) => ({ pointer, detail })))
}
