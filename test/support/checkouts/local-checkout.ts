import { join } from 'node:path'
import type { LocalStack, StackPorts } from '@orderflow/stack'
import { localPorts, processState, readProcessTable, recordedNames } from '@orderflow/stack/internals'
import type { Ended } from '@orderflow/test-kit/stacks'
import type { OperatedStack } from '../../specs/operations/commands.ts'
import { freeOffset } from './free-offset.ts'
import { keepLogs } from './keep-logs.ts'
import { copyRepository } from './repository-copy.ts'

/** A checkout whose `make up` starts processes with their own ports and data. */
export interface LocalCheckout {
  folder: string
  ports: StackPorts
  /** The variables with which commands use the ports. */
  environment: Record<string, string>
  make: OperatedStack['make']
  orderflow: OperatedStack['orderflow']
  parts: OperatedStack['parts']
  start: (...variables: string[]) => Promise<StartedCheckout>
  remove: () => Promise<void>
}

export interface StartedCheckout extends LocalStack, OperatedStack {
  up: Ended
}

/** @param suite the name of the suite, whose folder gets the logs */
export async function localCheckout(suite: string): Promise<LocalCheckout> {
  const copy = copyRepository()
  const env = { STACK: 'local', PORT_OFFSET: String(await freeOffset()) }
  const ports = localPorts(env)
  const folder = join(copy.folder, '.stack')
  const make: LocalCheckout['make'] = (...args) => copy.run('make', ['--no-print-directory', ...args], env)
  const orderflow: LocalCheckout['orderflow'] = (args, more) => copy.run('./orderflow', args, { ...env, ...more })
  /** All process groups that the stack has ever recorded. None of them may run after the stack has stopped. */
  const groups = new Map<number, string>()

  async function parts(): Promise<Record<string, string>> {
    for (const name of recordedNames(folder)) {
      const state = processState(folder, name)
      if (state.state === 'running') groups.set(state.group, name)
    }
    const alive = [...readProcessTable().values()].filter(({ group }) => groups.has(group))
    return Object.fromEntries(alive.map(({ group }) => [groups.get(group), String(group)]))
  }

  return {
    folder: copy.folder,
    ports,
    environment: env,
    make,
    orderflow,
    parts,
    async start(...variables) {
      const own = await copy.load<typeof import('@orderflow/stack/internals')>('packages/stack/test/internals.ts')
      // The started processes outlive `make up`, but must end with this process.
      await own.claimFolder(folder)
      const up = await make('up', ...variables)
      if (up.code !== 0) throw new Error(up.stdout + up.stderr)
      return { ...own.runningStack(await own.createPlan(folder, ports), true), up, make, orderflow, parts }
    },
    async remove() {
      await make('down')
      keepLogs(copy.folder, suite)
      copy.remove()
    },
  }
}
