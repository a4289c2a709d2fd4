import { localFolder } from '../application/paths.ts'
import { localPorts } from '../application/ports.ts'
import { type Service, sidecarOf } from '../application/services.ts'
import { withStackLock } from '../application/stack-lock.ts'
import type { ProgressOptions } from '../runner.ts'
import { restartProcesses } from './ensure.ts'
import { createPlan, requireOwnSettings } from './plan.ts'
import { requireBroker } from './status.ts'

/** Restarts the only replica of a service. Events wait in Kafka during the restart. */
export async function restart(service: Service, options: ProgressOptions): Promise<void> {
  requireBroker()
  requireOwnSettings()
  await withStackLock(localFolder, options.onProgress, async () => {
    const plan = await createPlan(localFolder, localPorts())
    await restartProcesses(plan, [service.name, sidecarOf(service)], options)
  })
}
