import type { Request } from 'express'
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
  /** Set where it reads the body's bytes itself (`request.body`, undefined for none): what they may be. */
  receives?: BodyKind
  /** Status codes of the problems that it brings along. */
  problems: readonly number[]
}

/** The inputs of an operation, by the names that its handler has them under. */
export type Inputs = Record<string, Input<unknown>>

/** What a handler gets: each input as it was read. */
export type Values<I extends Inputs> = { [K in keyof I]: I[K] extends Input<infer T> ? T : never }

/** Reads all inputs, in their order. @throws {HttpProblem} */
export function readInputs<I extends Inputs>(inputs: I, request: Request): Values<I> {
  const values = Object.entries(inputs).map(([name, input]) => [name, input.read(request)])
  return Object.fromEntries(values) as Values<I>
}
