import { sidecarOf, storedServices } from '@orderflow/stack'

export const orderProcesses: readonly string[] = [
  'kafka',
  ...storedServices.flatMap((service) => [service.name, sidecarOf(service)]),
]
