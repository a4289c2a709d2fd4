import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { LocalStack, ProcessName, StackPorts } from '@orderflow/stack'
import type { Operator, Role } from '../specs/rebuild.ts'
import { domainDocuments } from './documents.ts'
import { operate } from './operate.ts'

interface Row {
  key: string
  value: string
  is_binary: number
}

/** The operator of a stack of processes: its stores are files of Dapr's SQLite component. */
export function localOperator(stack: LocalStack, ports: StackPorts): Operator {
  const file = (role: Role) => join(stack.folder, 'data', `${role}.db`)

  return {
    documents(role) {
      const database = new DatabaseSync(file(role), { readOnly: true })
      try {
        const rows = database.prepare('SELECT key, value, is_binary FROM state').all() as unknown as Row[]
        const text = ({ value, is_binary }: Row) => (is_binary ? Buffer.from(value, 'base64').toString() : value)
        return domainDocuments(rows.map((row) => [row.key, text(row)]))
      } finally {
        database.close()
      }
    },

    async loseStores() {
      const names: ProcessName[] = ['order-service', 'order-sidecar', 'payment-service', 'payment-sidecar']
      for (const name of names) await stack.kill(name, 'SIGTERM')
      for (const role of ['order', 'payment'] as const) {
        for (const end of ['', '-wal', '-shm']) rmSync(file(role) + end, { force: true })
      }
      await Promise.all(names.map((name) => stack.restart(name)))
    },

    async rebuild(role, ...args) {
      const { code, stdout, stderr } = await operate(stack, role, ports[role], ['rebuild', ...args])
      if (code !== 0) throw new Error(stderr)
      return stdout
    },
  }
}
