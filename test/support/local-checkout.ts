import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { addressAt, entryOf, eventually, isPortFree, ofServices, type StackPorts } from '@orderflow/stack'
import { localKafka, localPorts, processState, readProcessTable, recordedNames } from '@orderflow/stack/parts'
import type { OperatedCheckout } from '../specs/commands.ts'
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

/** What puts all ports of a stack where nobody listens, below every system's range for outgoing connections. */
async function freeOffset(): Promise<number> {
  const offset = randomInt(11_000, 23_000)
  const { kafka, kafkaController, services } = localPorts({ PORT_OFFSET: String(offset) })
  const ports = [kafka, kafkaController, ...Object.values(services).flatMap((own) => Object.values(own))]
  return (await Promise.all(ports.map(isPortFree))).every(Boolean) ? offset : freeOffset()
}
