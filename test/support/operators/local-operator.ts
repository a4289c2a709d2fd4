import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import {
  databaseFile,
  type LocalStack,
  localPostgresql,
  serviceNamed,
  sidecarOf,
  storedServices,
  storeOf,
} from '@orderflow/cli'
import type { Operator } from '@orderflow/test-kit'
import { domainDocuments } from '../documents/documents.ts'
import { openStores, type Stores } from '../stores.ts'
import type { Operate } from './operate.ts'

interface Row {
  key: string
  value: string
  is_binary: number
}

export function localOperator(stack: LocalStack, postgresqlPort: number, operate: Operate): Operator {
  const serviceOf = (role: string) => serviceNamed(`${role}-service`)

  async function withStores<Result>(
    work: (stores: Pick<Stores, 'read' | 'empty'>) => Promise<Result>,
  ): Promise<Result> {
    if (storeOf(stack.folder) === 'sqlite') return work(sqliteStores(stack.folder))
    const stores = openStores(localPostgresql(stack.folder, postgresqlPort))
    return await work(stores).finally(() => stores.close())
  }

  return {
    documents: (role) => withStores(async ({ read }) => domainDocuments(await read(serviceOf(role).name))),

    async loseStores(...roles) {
      const lost = storedServices.filter(({ role }) => roles.length === 0 || roles.includes(role))
      const names = lost.flatMap((service) => [service.name, sidecarOf(service)])
      await Promise.all(names.map((name) => stack.kill(name, 'SIGTERM')))
      await withStores(({ empty }) => Promise.all(lost.map(({ name }) => empty(name))))
      await Promise.all(names.map((name) => stack.restart(name)))
    },

    async rebuild(role, ...range) {
      const { code, stdout, stderr } = await operate(serviceOf(role).name, ['rebuild', ...range])
      if (code !== 0) throw new Error(stderr)
      return stdout
    },
  }
}

function sqliteStores(folder: string): Pick<Stores, 'read' | 'empty'> {
  const file = (service: string) => databaseFile(folder, serviceNamed(service))
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
    async empty(service) {
      for (const end of ['', '-wal', '-shm']) rmSync(file(service) + end, { force: true })
    },
  }
}
