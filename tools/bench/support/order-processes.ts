import { sidecarOf, storedServices } from '@orderflow/cli'

export const orderProcesses: readonly string[] = [
  'kafka',
  ...storedServices.flatMap((service) => [service.name, sidecarOf(service)]),
]
