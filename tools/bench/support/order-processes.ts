import { sidecarOf, storedServices } from '@orderflow/cli'

/** The processes that orders need. */
export const orderProcesses: readonly string[] = [
  'kafka',
  ...storedServices.flatMap((service) => [service.name, sidecarOf(service)]),
]
