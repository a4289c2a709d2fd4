import { noTenant, type Tenant } from '@orderflow/envelope-schema'
import type { Request, Response } from 'express'
import { type Caller, callerOf, type Scope } from '../auth/caller.ts'
import { handled } from '../telemetry/handling.ts'
import { type Input, type Inputs, readInputs, type Values } from './requests/input.ts'
import type { Model } from './requests/model.ts'

/** What a handler answers: the body as JSON, and the path of what was made. */
export interface Answer<S extends number, T> {
  status: S
  body: T
  location?: string
}

/** What a handler gets besides its inputs. */
export interface Context {
  /** The trace that the request belongs to, by its W3C `traceparent`, or a new one: a GUID, as envelopes have it. */
  traceId: string | undefined
  /** For whom it is sent, as its token or key proves; of no tenant where nobody is asked. */
  tenant: Tenant
  /** Who sent it; undefined where nobody is asked. */
  caller: Caller | undefined
}

/** What a service says of an operation. All else follows: docs, reading, problems, `Location`. */
export interface Definition<I extends Inputs, S extends number, T> {
  method: 'get' | 'post'
  /** With parameters as OpenAPI writes them: `/v1/things/{id}`. The second part is the operation's tag. */
  path: string
  scope: Scope
  summary: string
  description?: string
  input: I
  /** What the answer means, by status code. */
  answers: Record<S, string>
  /** What all answers hold. */
  body: Model<T>
  /** Codes of the errors with which the domain refuses it; the table of `createWeb` has their status codes. */
  refusals?: readonly string[]
  handle(input: Values<I>, context: Context): Promise<Answer<NoInfer<S>, NoInfer<T>>>
}

/** An operation, ready to be mounted and documented. */
export interface Route {
  operation: Pick<Definition<Inputs, number, unknown>, 'method' | 'path' | 'scope' | 'summary'> & {
    description: string | undefined
    inputs: readonly Input<unknown>[]
    answers: Readonly<Record<string, string>>
    body: Model<unknown>
    /** Of the answers; `application/json` without. */
    mediaType?: string
    refusals: readonly string[]
  }
  handle(request: Request, response: Response): Promise<void>
}

/** An operation whose input and answer are what its documentation says. A test calls `handle` of the definition. */
export function route<I extends Inputs, S extends number, T>(definition: Definition<I, S, T>): Route {
  const { method, path, scope, summary, description, input, answers, body, refusals = [], handle } = definition
  return {
    operation: { method, path, scope, summary, description, inputs: Object.values(input), answers, body, refusals },
    async handle(request, response) {
      const caller = callerOf(request)
      const context = { traceId: handled()?.traceId, tenant: caller?.tenant ?? noTenant, caller }
      const answer = await handle(readInputs(input, request), context)
      if (answer.location !== undefined) response.location(request.baseUrl + answer.location)
      response.status(answer.status).json(answer.body)
    },
  }
}
