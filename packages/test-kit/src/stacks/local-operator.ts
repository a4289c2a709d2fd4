import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  databaseFile,
  entryOf,
  type LocalStack,
  localPostgresql,
  operateProgram,
  type RunningStack,
  type StackPorts,
  serversOf,
  serviceNamed,
  sidecarOf,
  type storedServices,
} from '@orderflow/stack'
import { repository } from '@orderflow/stack/base'
import { createOperator, type FilledStores, type Operator } from '../operator.ts'
import { type Ended, runIn } from './run-in.ts'
import { openStores } from './stores.ts'

/** Runs an operator’s command of a service. `env` adds variables to the service’s settings. */
export type Operate = (service: string, args: string[], env?: Record<string, string>) => Promise<Ended>

/**
 * Runs the operators’ program of a service with the settings of the service in a local stack.
 * @param folder the application of the services
 */
export function operatorOf(stack: RunningStack, ports: StackPorts, folder = repository): Operate {
  return (service, args, env = {}) => {
    const settings = {
      ...operatorSettings(stack, service, ports),
      NODE_COMPILE_CACHE: join(folder, '.stack/compile-cache'),
    }
    const file = join(folder, serviceNamed(service).folder, operateProgram)
    return runIn(process.cwd(), process.execPath, [file, ...args], { ...settings, ...env })
  }
}

export function operatorSettings(stack: RunningStack, service: string, ports: StackPorts): Record<string, string> {
  const { app, dapr } = entryOf(stack.tokens, service)
  return {
    APP_API_TOKEN: app,
    DAPR_API_TOKEN: dapr,
    Sidecar__GrpcPort: String(entryOf(ports.services, service).daprGrpc),
    Stream__Brokers: stack.kafka.bootstrapBrokers.join(','),
  }
}

interface Row {
  key: string
  value: string
  is_binary: number
}

export function localOperator(stack: LocalStack, postgresqlPort: number, operate: Operate): Operator {
  async function withStores<Result>(work: (stores: FilledStores) => Promise<Result>): Promise<Result> {
    if (serversOf(stack.folder).store === 'sqlite') return work(sqliteStores(stack.folder))
    const stores = openStores(localPostgresql(stack.folder, postgresqlPort))
    return await work(stores).finally(() => stores.close())
  }

  /** Stops services and their sidecars during `work`. */
  async function whileStopped(stopped: typeof storedServices, work: () => Promise<unknown>): Promise<void> {
    const names = stopped.flatMap((service) => [service.name, sidecarOf(service)])
    await Promise.all(names.map((name) => stack.kill(name, 'SIGTERM')))
    await work()
    await Promise.all(names.map((name) => stack.restart(name).catch(exceptLostStore)))
  }

  return createOperator(stack, {
    withStores,
    whileStopped,
    rebuild: async (service, args) => {
      const { code, stdout, stderr } = await operate(service, ['rebuild', ...args])
      if (code !== 0) throw new Error(stderr)
      return stdout
    },
  })
}

/** A service with an emptied store runs, but is not ready. */
function exceptLostStore(error: { code?: string }): void {
  if (error.code !== 'data-lost') throw error
}

function sqliteStores(folder: string): FilledStores {
  const file = (service: string) => databaseFile(folder, serviceNamed(service))
  const copyOf = (service: string) => `${file(service)}.older`
  const empty = async (service: string) => {
    for (const end of ['', '-wal', '-shm']) rmSync(file(service) + end, { force: true })
  }
  return {
    async read(service) {
      const database = new DatabaseSync(file(service), { readOnly: true })
      try {
        const rows = database.prepare('SELECT key, value, is_binary FROM state').all() as unknown as Row[]
        return rows.map(({ key, value, is_binary }) => [
          key,
          is_binary ? Buffer.from(value, 'base64').toString() : value,
        ])
      } finally {
        database.close()
      }
    },
    empty,
    async copy(service) {
      rmSync(copyOf(service), { force: true })
      const database = new DatabaseSync(file(service))
      database.prepare('VACUUM INTO ?').run(copyOf(service))
      database.close()
    },
    async putBack(service) {
      await empty(service)
      renameSync(copyOf(service), file(service))
    },
  }
}
