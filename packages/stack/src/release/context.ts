import type { Service } from '../lib/services.ts'
import { createHttp } from './http.ts'
import { type Operator, readOperator } from './operator.ts'
import type { Output } from './output.ts'
import { createPlatform, type Platform } from './platform.ts'
import { type JournalFile, openJournal } from './record.ts'
import { createRegistry, type Registry } from './registry.ts'

export interface Context {
  service: Service
  operator: Operator
  env: NodeJS.ProcessEnv
  out: Output
  signal: AbortSignal
  platform: Platform
  registry: Registry
  journal: JournalFile
}

export interface ContextOptions {
  service: Service
  env: NodeJS.ProcessEnv
  out: Output
  signal: AbortSignal
}

export function createContext({ service, env, out, signal }: ContextOptions, command: string): Context {
  if (env.ACCESS_TOKEN) out.hide([env.ACCESS_TOKEN])
  const operator = readOperator(env, `${command} ${service.role}`)
  const send = createHttp({ onWait: (line) => out.complain(`waiting: ${line}`), signal })
  return {
    service,
    operator,
    env,
    out,
    signal,
    platform: createPlatform(operator, send),
    registry: createRegistry(operator, send),
    journal: openJournal(operator.app, env),
  }
}
