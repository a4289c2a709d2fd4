import type { Brokers } from '@orderflow/stack'
import { type ContainerStack, inspectContainers, startContainers } from '@orderflow/test-kit/containers'
import type { OperatedStack } from '../specs/operations/commands.ts'
import { copyRepository } from '../support/checkouts/repository-copy.ts'

export interface RunningContainers extends ContainerStack, OperatedStack {}

/** Starts the stack in a new copy of this checkout, in which commands can be run. */
export async function startCheckout(brokers: Brokers = 1): Promise<RunningContainers> {
  const copy = copyRepository()
  const stack = await startContainers(copy, brokers)
  const { project, variables } = stack
  return {
    ...stack,
    async make(...args) {
      if (args[0] === 'down') await stack.keepLog()
      return copy.run('make', ['--no-print-directory', ...args], variables)
    },
    orderflow: (args, more) => copy.run('./orderflow', args, { ...variables, ...more }),
    async parts() {
      const running = (await inspectContainers(project)).filter(({ State }) => State.Running)
      const label = 'com.docker.compose.service'
      return Object.fromEntries(running.map(({ Config, State }) => [Config.Labels[label] ?? '', State.StartedAt]))
    },
  }
}
