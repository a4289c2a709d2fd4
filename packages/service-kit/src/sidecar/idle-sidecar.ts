import { sidecarFault } from './health.ts'
import type { Sidecar, SidecarSettings } from './sidecar.ts'

const unused = async (): Promise<never> => {
  throw new Error('there is nothing to do for the sidecar: the service produces nothing, and State__Store is empty')
}

/**
 * The sidecar of a service that publishes nothing and keeps nothing in a store: only its health is asked, without gRPC and Dapr's protocol,
 * which take 35 MB.
 */
export function createIdleSidecar({ Sidecar: sidecar }: Pick<SidecarSettings, 'Sidecar'>): Sidecar {
  return {
    writeIntervalMs: 0,
    publish: unused,
    read: unused,
    readOne: unused,
    transact: unused,
    save: unused,
    storeType: unused,
    async missing() {
      const fault = await sidecarFault(sidecar)
      return fault === undefined ? {} : { sidecar: fault }
    },
  }
}
