import { join } from 'node:path'
import { portUses, requireFreePorts } from '../application/free-ports.ts'
import { repository } from '../application/paths.ts'
import {
  entryOf,
  operateProgram,
  requireStoresUnused,
  type Service,
  sidecarOf,
  storedServices,
} from '../application/services.ts'
import { withoutVariables } from '../application/variables.ts'
import { runTool } from '../base/run-tool.ts'
import { type EnsureOptions, ensureRunning } from './ensure.ts'
import { type Plan, serverNames } from './plan.ts'
import { processState, startProcess } from './process/control.ts'
import { processSpecs } from './process/spec.ts'

/**
 * Rebuilds all stores from the log while the services are stopped. A service that starts with an incomplete store could handle an event of an order
 * that it does not yet know. Starts only Kafka, the stores and the sidecars.
 * @throws {CliError} `still-running` if a service with a store runs
 */
export async function rebuildStores(plan: Plan, options: EnsureOptions): Promise<void> {
  const names = storedServices.map(({ name }) => name)
  requireStoresUnused(names.filter((name) => processState(plan.folder, name).state === 'running'))
  await ensureRunning(plan, serverNames(plan), options)
  for (const service of storedServices) await rebuildStore(plan, service, options)
}

async function rebuildStore(plan: Plan, service: Service, options: EnsureOptions): Promise<void> {
  const { onProgress, onStarted, signal } = options
  const specs = processSpecs(plan)
  const sidecar = entryOf(specs, sidecarOf(service))
  // A sidecar subscribes only when its service answers, so it delivers no events yet.
  if (processState(plan.folder, sidecar.name).state !== 'running') {
    await requireFreePorts(portUses(sidecar))
    startProcess(plan.folder, sidecar)
    onStarted?.(sidecar.name)
  }
  onProgress(`${service.name}: rebuilding its store from the log`)
  const { env } = entryOf(specs, service.name)
  const onLine = (line: string) => onProgress(`${service.name}: ${line}`)
  const args = [join(repository, service.folder, operateProgram), 'rebuild']
  await runTool(process.execPath, args, {
    cwd: repository,
    environment: withoutVariables(process.env),
    env,
    onLine,
    signal,
  })
}
