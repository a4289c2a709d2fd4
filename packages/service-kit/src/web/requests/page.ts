import type { Request } from 'express'
import { invalid } from '../problems/problem.ts'
import type { Input } from './input.ts'
import { type Model, referenceTo } from './model.ts'

const defaultLimit = 20
const maxLimit = 100

/** What part of a list is asked for. */
export interface PageOptions {
  limit: number
  /** The `next` of the page before; undefined for the first page. */
  cursor: string | undefined
}

/** `limit` and `cursor` of a list. */
export const pageOptions: Input<PageOptions> = {
  read: readPageOptions,
  parameters: [
    {
      name: 'limit',
      in: 'query',
      schema: { type: 'integer', minimum: 1, maximum: maxLimit, default: defaultLimit },
    },
    { name: 'cursor', in: 'query', description: 'The `next` of the page before.', schema: { type: 'string' } },
  ],
  problems: [400],
}

/** @throws {HttpProblem} 400 naming the parameter */
function readPageOptions(request: Request): PageOptions {
  const { limit = String(defaultLimit), cursor } = request.query
  const count = typeof limit === 'string' && /^\d{1,3}$/.test(limit) ? Number(limit) : 0
  if (count < 1 || count > maxLimit)
    throw invalid([{ pointer: 'limit', detail: `is a whole number from 1 to ${maxLimit}` }])
  if (cursor !== undefined && typeof cursor !== 'string')
    throw invalid([{ pointer: 'cursor', detail: 'is given once' }])
  return { limit: count, cursor }
}

/** A page of a list of these: `next` is null on the last one. */
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
