import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { entryOf, type RunningStack, repository, type StackPorts } from '@orderflow/stack'

export interface Ended {
  code: number
  stdout: string
  stderr: string
}

/**
 * Runs what an operator runs: a service's `src/operate.ts`, with the settings the service has in a local stack.
 * @param folder of the repository whose service it is
 */
export function operate(
  stack: RunningStack,
  service: string,
  ports: StackPorts,
  args: string[],
  env: Record<string, string> = {},
  folder = repository,
): Promise<Ended> {
  const { app, dapr } = entryOf(stack.tokens, service)
  const settings = {
    APP_API_TOKEN: app,
    DAPR_API_TOKEN: dapr,
    Sidecar__GrpcPort: String(entryOf(ports.services, service).daprGrpc),
    NODE_COMPILE_CACHE: join(folder, '.stack/compile-cache'),
    Stream__Brokers: stack.kafka.bootstrapBrokers.join(','),
  }
  const file = join(folder, service, 'src/operate.ts')
  return promisify(execFile)(process.execPath, [file, ...args], { env: { ...process.env, ...settings, ...env } })
    .then(({ stdout, stderr }) => ({ code: 0, stdout, stderr }))
    .catch((error: Ended) => error)
}
