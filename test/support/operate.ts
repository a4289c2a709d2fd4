import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type RunningStack, repository, type ServicePorts } from '@orderflow/stack'
import { cacheFolder } from '../../stack/src/lib/paths.ts'

export interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** Runs what an operator runs: a service's `src/operate.ts`, with the settings the service has in a local stack. */
export function operate(
  stack: RunningStack,
  role: 'order' | 'payment',
  ports: ServicePorts,
  args: string[],
  env: Record<string, string> = {},
): Promise<Ended> {
  const settings = {
    APP_API_TOKEN: stack.tokens[role].app,
    DAPR_API_TOKEN: stack.tokens[role].dapr,
    Sidecar__GrpcPort: String(ports.daprGrpc),
    NODE_COMPILE_CACHE: join(cacheFolder(), 'compile-cache'),
    Stream__Brokers: stack.kafka.bootstrapBrokers.join(','),
  }
  const file = join(repository, `${role}-service/src/operate.ts`)
  return promisify(execFile)(process.execPath, [file, ...args], { env: { ...process.env, ...settings, ...env } })
    .then(({ stdout, stderr }) => ({ code: 0, stdout, stderr }))
    .catch((error: Ended) => error)
}
