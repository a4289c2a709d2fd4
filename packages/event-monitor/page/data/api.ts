import { signal } from '@preact/signals'
import { type Me, type Problem, paths } from '../../src/api/index.ts'
import { root } from './location.ts'

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
export async function tryCredential(key: string): Promise<void> {
  const response = await answerTo(paths.me, { headers: authorization(key) })
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

/** That the monitor let nobody in, on a stack that is closed, and why what somebody had signed in with does not count any more. */
export const refusal = signal<{ ended: string | null } | null>(null)
/** Whether somebody is asked who they are. */
export const isSigningIn = signal(false)

const credentialKey = 'credential'

/** The API key or token that somebody signed in with. It is in this tab alone, and gone with it. */
export function credential(): string | null {
  try {
    return sessionStorage.getItem(credentialKey)
  } catch {
    return null
  }
}

/** The header that says who asks: none where nobody signed in. */
function authorization(sent = credential()): { authorization?: string } {
  return sent === null ? {} : { authorization: `Bearer ${sent}` }
}

/** Who asked is not let in: what they had signed in with is forgotten, and they are asked, once. */
function refuse({ title, detail = title }: Problem): void {
  if (refusal.value) return
  refusal.value = { ended: credential() && detail }
  isSigningIn.value = true
  try {
    sessionStorage.removeItem(credentialKey)
  } catch {
    // Then there was nothing.
  }
}

/** Asks for everything anew, as whoever has this. @throws {DOMException} where the browser keeps nothing for the page */
export function signIn(accepted: string): void {
  sessionStorage.setItem(credentialKey, accepted)
  location.reload()
}

/** Nothing that was shown or written stays. */
export function signOut(): void {
  sessionStorage.clear()
  location.reload()
}

/** Who looks, and what they may do; null until it is known. */
export const me = signal<Me | null>(null)

export const may = (scope: 'events:operate' | 'events:reveal') => me.value?.scopes.includes(scope) ?? false

/** Again until it is known: the monitor may still be starting. Not when it lets nobody in. */
export async function loadCaller(): Promise<void> {
  try {
    me.value = await get<Me>(paths.me)
  } catch (error) {
    if (!isRefusal(error)) setTimeout(loadCaller, 3000)
  }
}
