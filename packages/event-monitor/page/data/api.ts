import { signal } from '@preact/signals'
import { type Me, type Problem, paths } from '../../src/api/index.ts'
import { away, problemOf } from '../lib/problem.ts'
import { root } from './location.ts'

/** Reports a failed request. Its status is 0 if the monitor does not answer. */
export class ApiProblem extends Error {
  readonly problem: Problem

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.detail ?? problem.title, options)
    this.problem = problem
  }
}

/** Returns true if a retry of the same request would be refused, too. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof ApiProblem &&
  error.problem.status >= 400 &&
  error.problem.status < 500 &&
  error.problem.status !== 429

export function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return ask<Answer>(path, { ...(signal && { signal }) })
}

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

/** @throws {ApiProblem} if the request fails. An aborted request throws the error of `fetch` */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const sent = credential()
  const response = await answerTo(path, { ...init, headers: { ...init.headers, ...authorization(sent) } })
  if (response.ok) return response
  throw refused(await problemOf(response), sent)
}

/** Returns the error of a refused request. Ignores the refusal of an old credential if the user has signed in again since the request. */
function refused(problem: Problem, sent: string | null): ApiProblem {
  if (problem.status === 401 && sent === credential()) refuse(problem)
  return new ApiProblem(problem)
}

export const authorizationHeader = (): string | null => authorization().authorization ?? null

/** Returns the error of a request that another program sent with a header of this tab. */
export const refusalOf = (problem: Problem, header: string | null): ApiProblem =>
  refused(problem, header === null ? null : header.replace(/^Bearer /, ''))

/** @throws {ApiProblem} 401 or 403 if the key or token is refused */
export async function tryCredential(key: string): Promise<void> {
  const response = await answerTo(paths.me, { headers: authorization(key) })
  if (!response.ok) throw new ApiProblem(await problemOf(response))
}

async function answerTo(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(root + path, init)
  } catch (cause) {
    if (init.signal?.aborted) throw cause
    throw new ApiProblem(away, { cause })
  }
}

export const queryOf = (values: Record<string, string | number | null | undefined>): string => {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text && `?${text}`
}

/** `ended` is the reason why the last credential was refused; null if there was no credential. */
export const refusal = signal<{ ended: string | null } | null>(null)
export const isSigningIn = signal(false)

const credentialKey = 'credential'

export function credential(): string | null {
  try {
    return sessionStorage.getItem(credentialKey)
  } catch {
    return null
  }
}

function authorization(sent = credential()): { authorization?: string } {
  return sent === null ? {} : { authorization: `Bearer ${sent}` }
}

/** Removes a refused credential and opens the sign-in dialog. Later refusals have no effect. */
function refuse({ title, detail = title }: Problem): void {
  if (refusal.value) return
  refusal.value = { ended: credential() && detail }
  isSigningIn.value = true
  try {
    sessionStorage.removeItem(credentialKey)
  } catch {
    // The browser has no storage.
  }
}

/** @throws {DOMException} if the browser has no storage */
export function signIn(accepted: string): void {
  sessionStorage.setItem(credentialKey, accepted)
  location.reload()
}

/** Removes the credential and all unsent edits, and reloads the page. */
export function signOut(): void {
  sessionStorage.clear()
  location.reload()
}

/** The caller; null until the monitor has answered. */
export const me = signal<Me | null>(null)

export const may = (scope: 'events:operate' | 'events:reveal' | 'deadlines:read' | 'deadlines:operate') =>
  me.value?.scopes.includes(scope) ?? false

/** Loads the caller. Repeats the request until the monitor accepts or refuses it. */
export async function loadCaller(): Promise<void> {
  try {
    me.value = await get<Me>(paths.me)
  } catch (error) {
    if (!isRefusal(error)) setTimeout(loadCaller, 3000)
  }
}
