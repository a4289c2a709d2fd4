import { EventEmitter } from 'node:events'
import type { RequestHandler } from 'express'
import type { Context } from '../../../src/release/context.ts'
import { createHttp } from '../../../src/release/platform/http.ts'
import { createPlatform } from '../../../src/release/platform/platform.ts'
import { createRegistry } from '../../../src/release/platform/registry.ts'
import { openJournal } from '../../../src/release/record.ts'
import { type RunningPlatform, startPlatform } from '../rehearsal/platform/index.ts'
import { capturedOutput } from './captured-output.ts'
import { operatorOf, token } from './operator.ts'
import { serviceNamed } from './service-named.ts'
import { simulatedRuntime } from './simulated-runtime.ts'
import { temporaryFolder } from './temporary-folder.ts'

export interface FakePlatform extends RunningPlatform {
  /** Replaces the answer to the next `times` matching requests. Returns a function that counts the replaced answers. */
  answer: (method: string, path: RegExp, handler: RequestHandler, times?: number) => () => number
  endLogSessions: () => void
}

/** Starts the platform on loopback with simulated web processes. Its registry has every image digest. */
export async function startFakePlatform(options: { bootTimeoutMs?: number } = {}): Promise<FakePlatform> {
  const rules: { method: string; path: RegExp; handler: RequestHandler; left: number; used: number }[] = []
  const logSessions = new EventEmitter().setMaxListeners(0)
  const platform = await startPlatform({
    apps: { 'my-app': 'container', 'other-app': 'heroku-24' },
    token,
    platform: 'heroku',
    findImage: async (_app, digest) => ({ digest, reference: digest }),
    runtime: simulatedRuntime(),
    bootTimeoutMs: options.bootTimeoutMs ?? 5_000,
    logSessions,
    interfere: (request, response, next) => {
      const rule = rules.find(
        ({ method, path, left }) => left > 0 && request.method === method && path.test(request.path),
      )
      if (!rule) return next()
      rule.left -= 1
      rule.used += 1
      return rule.handler(request, response, next)
    },
  })
  return {
    ...platform,
    answer: (method, path, handler, times = 1) => {
      const rule = { method, path, handler, left: times, used: 0 }
      rules.push(rule)
      return () => rule.used
    },
    endLogSessions: () => void logSessions.emit('end'),
  }
}

/** Returns the context of a command for an app of a fake platform. Waits between attempts take no time. */
export function contextFor(platform: FakePlatform, changes: { app?: string; token?: string; platform?: string } = {}) {
  const operator = operatorOf({ apiUrl: platform.apiUrl, ...changes })
  const out = capturedOutput()
  const stopped = new AbortController()
  const send = createHttp({ sleep: async () => {}, signal: stopped.signal })
  const env = { RELEASE_FOLDER: temporaryFolder() }
  const context: Context = {
    service: serviceNamed('order'),
    operator,
    env,
    out,
    signal: stopped.signal,
    platform: createPlatform(operator, send),
    registry: createRegistry(operator, send),
    journal: openJournal(operator.app, env),
  }
  return { ...context, text: out.text, stop: () => stopped.abort() }
}

export const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`
