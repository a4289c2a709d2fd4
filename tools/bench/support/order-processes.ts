import { sidecarOf, storedServices } from '@orderflow/cli'

/** The processes that orders need: Kafka, and the services with a store and their sidecars. */
export const orderProcesses: readonly string[] = [
  'kafka',
  ...storedServices.flatMap((service) => [service.name, sidecarOf(service)]),
]
