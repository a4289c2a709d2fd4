import { sidecarOf, storedServices } from '@orderflow/cli'

/** What an order takes: Kafka, and the services that keep something, with their sidecars. */
export const orderProcesses: readonly string[] = [
  'kafka',
  ...storedServices.flatMap((service) => [service.name, sidecarOf(service)]),
]
