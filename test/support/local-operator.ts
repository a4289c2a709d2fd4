import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type LocalStack, type Service, serviceNamed, services, sidecarOf } from '@orderflow/stack'
import { databaseFile } from '@orderflow/stack/parts'
import type { Operator } from '../specs/rebuild.ts'
import { domainDocuments } from './documents.ts'
import type { Operate } from './operate.ts'

interface Row {
  key: string
  value: string
  is_binary: number
}

/** The operator of a stack of processes: its stores are files of Dapr's SQLite component. */
export function localOperator(stack: LocalStack, operate: Operate): Operator {
  const file = (service: Service) => databaseFile(stack.folder, service)
  const serviceOf = (role: string) => serviceNamed(`${role}-service`)

  return {
    documents(role) {
      const database = new DatabaseSync(file(serviceOf(role)), { readOnly: true })
      try {
        const rows = database.prepare('SELECT key, value, is_binary FROM state').all() as unknown as Row[]
        const text = ({ value, is_binary }: Row) => (is_binary ? Buffer.from(value, 'base64').toString() : value)
        return domainDocuments(rows.map((row) => [row.key, text(row)]))
      } finally {
        database.close()
      }
    },

    async loseStores(...roles) {
      const lost = services.filter(({ role }) => roles.length === 0 || roles.includes(role))
      const names = lost.flatMap((service) => [service.name, sidecarOf(service)])
      await Promise.all(names.map((name) => stack.kill(name, 'SIGTERM')))
      for (const service of lost) {
        for (const end of ['', '-wal', '-shm']) rmSync(file(service) + end, { force: true })
      }
      await Promise.all(names.map((name) => stack.restart(name)))
    },

    async rebuild(role, ...range) {
      const { code, stdout, stderr } = await operate(serviceOf(role).name, ['rebuild', ...range])
      if (code !== 0) throw new Error(stderr)
      return stdout
    },
  }
}
