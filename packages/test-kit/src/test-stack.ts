import { freePorts, type LocalStore, requireStore, startStack, supportedRunner } from '@orderflow/stack'
import { testFolder } from '@orderflow/stack/base'
import type { TestStack } from './operator.ts'

/**
 * Starts a stack for tests, with free ports and its own data. `STACK` and `STORE` select the runner and the store, as for `make up`.
 * Without `STACK`, the stack runs in containers if this machine supports them, otherwise as processes.
 * @throws {CliError} `usage` for an unsupported value
 */
export async function startTestStack(): Promise<TestStack> {
  const { STACK, STORE } = process.env
  const onProgress = (line: string) => console.log(`test stack: ${line}`)
  const runner = await supportedRunner(process.env, { onProgress, signal: new AbortController().signal })
  if (STACK) onProgress(runner.title)
  const servers = STORE ? { store: requireStore(STORE, runner) as LocalStore } : {}
  const { copyApplication, localOperator, operatorOf } = await import('./stacks/index.ts')
  if (runner.surroundings === 'containers') {
    const { startContainers } = await import('./containers/index.ts')
    return startContainers(copyApplication())
  }
  const ports = await freePorts()
  const stack = await startStack({ folder: testFolder('services'), ports, servers, detached: false })
  return { ...stack, operator: localOperator(stack, ports.postgresql, operatorOf(stack, ports)) }
}
