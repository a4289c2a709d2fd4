import type { Service } from '../application/services.ts'
import type { Output } from './output.ts'
import { createHttp } from './platform/http.ts'
import { type Operator, readOperator } from './platform/operator.ts'
import { createPlatform, type Platform } from './platform/platform.ts'
import { createRegistry, type Registry } from './platform/registry.ts'
import { type JournalFile, openJournal } from './record.ts'

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

export function createContext(
  { service, env, out, signal }: Pick<Context, 'service' | 'env' | 'out' | 'signal'>,
  command: string,
): Context {
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
