import { storedServices } from '@orderflow/cli'
import type { Operator } from '@orderflow/test-kit'
import { domainDocuments } from '../support/documents/documents.ts'
import { openContainer } from './container.ts'
import type { RunningContainers } from './running-containers.ts'

/** Runs operators’ commands in containers. A rebuild uses the running sidecar, as `make rebuild` does. */
export function containersOperator({ project, stores }: RunningContainers): Operator {
  return {
    documents: async (role) => domainDocuments(await stores.read(`${role}-service`)),

    async loseStores(...roles) {
      const lost = storedServices.filter(({ role }) => roles.length === 0 || roles.includes(role))
      for (const { role } of lost) await stores.empty(`${role}-service`)
    },

    async rebuild(role, ...args) {
      const service = await openContainer(project, `${role}-service`)
      return service.exec(['node', 'src/operate.ts', 'rebuild', ...args])
    },
  }
}
