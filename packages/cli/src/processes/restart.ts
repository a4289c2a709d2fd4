import { localFolder } from '../lib/paths.ts'
import { localPorts } from '../lib/ports.ts'
import { type Service, sidecarOf } from '../lib/services.ts'
import { type EnsureOptions, ensureRunning } from './ensure.ts'
import { createPlan } from './plan.ts'
import { requireUp } from './status.ts'
import { stopProcesses, withStackLock } from './stop.ts'

/**
 * `./orderflow restart` of processes: the service and then its sidecar stop in order and start again. There is one of each, so events wait.
 * @throws {StackError} `not-running` when Kafka does not run
 */
export async function restartProcesses(service: Service, options: EnsureOptions): Promise<void> {
  requireUp(localFolder, ['kafka'])
  const own = [service.name, sidecarOf(service)]
  await withStackLock(localFolder, options.onProgress, async () => {
    const plan = await createPlan(localFolder, localPorts())
    for (const name of own) await stopProcesses(localFolder, [name], options.onProgress)
    await ensureRunning(plan, own, options)
  })
}
