import { services } from '@orderflow/stack'
import type { Operator } from '../specs/rebuild.ts'
import { domainDocuments } from '../support/documents.ts'
import { openContainer } from './container.ts'
import type { RunningContainers } from './running-containers.ts'

/** The operator of containers: the stores are MongoDB's, and a rebuild runs beside the sidecar, as `make rebuild` does it. */
export function containersOperator({ project, mongo }: RunningContainers): Operator {
  const collection = (role: string) =>
    mongo.db(`${role}-service`).collection<{ _id: string; value: string }>('daprCollection')

  return {
    async documents(role) {
      const stored = await collection(role).find().toArray()
      return domainDocuments(stored.map(({ _id, value }) => [_id, value]))
    },

    async loseStores(...roles) {
      const lost = services.filter(({ role }) => roles.length === 0 || roles.includes(role))
      for (const { role } of lost) await collection(role).deleteMany({})
    },

    async rebuild(role, ...args) {
      const service = await openContainer(project, `${role}-service`)
      return service.exec(['node', 'src/operate.ts', 'rebuild', ...args])
    },
  }
}
