import { join } from 'node:path'
import { addressAt, entryOf, eventually, ofServices, type StackPorts } from '@orderflow/stack'
import { localKafka, localPorts, processState, readProcessTable, recordedNames } from '@orderflow/stack/parts'
import type { OperatedCheckout } from '../specs/commands.ts'
import { freeOffset } from './free-offset.ts'
import { copyRepository } from './repository-copy.ts'

/** A checkout whose `make up` starts processes, on ports and with data that nobody else has. */
export interface LocalCheckout extends OperatedCheckout {
  ports: StackPorts
  /** Stops what runs. */
  remove: () => Promise<void>
}

export async function localCheckout(): Promise<LocalCheckout> {
  const copy = copyRepository()
  const env = { STACK: 'local', PORT_OFFSET: String(await freeOffset()) }
  const ports = localPorts(env)
  const folder = join(copy.folder, '.stack')
  const make: LocalCheckout['make'] = (...args) => copy.run('make', ['--no-print-directory', ...args], env)
  /** Groups stay known when the stack forgets them: what it left running counts. */
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
    services: ofServices(({ name }) => addressAt('localhost', entryOf(ports.services, name))),
    kafka: localKafka(ports.kafka),
    make,
    parts,
    async kill(name) {
      const state = processState(folder, name)
      if (state.state !== 'running') throw new Error(`${name} does not run`)
      process.kill(state.pid, 'SIGKILL')
      await eventually(async () => !(name in (await parts())), `the end of ${name}`)
    },
    async remove() {
      await make('down')
      copy.remove()
    },
  }
}
