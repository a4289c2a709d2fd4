import { type Problem, paths } from '../../src/api/index.ts'
import { authorization, credential, refuse } from './access.ts'
import { root } from './root.ts'

/** An answer that is none: what the monitor said, or that it does not answer (status 0). */
export class ApiProblem extends Error {
  readonly problem: Problem

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.detail ?? problem.title, options)
    this.problem = problem
  }
}

/** Whether the same question has the same answer however often it is asked: who asks is not known, may not, or asks what cannot be. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof ApiProblem &&
  error.problem.status >= 400 &&
  error.problem.status < 500 &&
  error.problem.status !== 429

/** @throws {ApiProblem} and what fetch throws when it is aborted */
export function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return ask<Answer>(path, { ...(signal && { signal }) })
}

/** @throws {ApiProblem} and what fetch throws when it is aborted */
export function post<Answer>(path: string, body: unknown, init: { signal?: AbortSignal; key?: string } = {}) {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (init.key) headers['idempotency-key'] = init.key
  return ask<Answer>(path, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    ...(init.signal && { signal: init.signal }),
  })
}

async function ask<Answer>(path: string, init: RequestInit): Promise<Answer> {
  return (await (await request(path, init)).json()) as Answer
}

/**
 * Asks as whoever signed in.
 * @throws {ApiProblem} for what is no answer, and what fetch throws when it is aborted
 */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const sent = credential()
  const response = await answerTo(path, { ...init, headers: { ...init.headers, ...authorization(sent) } })
  if (response.ok) return response
  const problem = await problemOf(response)
  // Who signed in meanwhile is not refused by what was asked before.
  if (problem.status === 401 && sent === credential()) refuse(problem)
  throw new ApiProblem(problem)
}

/** Whether a key or token counts, before anybody uses it. @throws {ApiProblem} when it does not: 401, or 403 */
export async function tryCredential(tried: string): Promise<void> {
  const response = await answerTo(paths.me, { headers: authorization(tried) })
  if (!response.ok) throw new ApiProblem(await problemOf(response))
}

async function answerTo(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(root + path, init)
  } catch (cause) {
    if (init.signal?.aborted) throw cause
    throw new ApiProblem({ type: 'about:blank', title: 'The monitor does not answer', status: 0 }, { cause })
  }
}

async function problemOf(response: Response): Promise<Problem> {
  const without = { type: 'about:blank', title: `The monitor answered ${response.status}`, status: response.status }
  try {
    return { ...without, ...((await response.json()) as Partial<Problem>) }
  } catch {
    return without
  }
}

export const queryOf = (values: Record<string, string | number | null | undefined>): string => {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text && `?${text}`
}
