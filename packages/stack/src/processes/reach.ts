import { localFolder } from '../application/paths.ts'
import { localPorts } from '../application/ports.ts'
import { entryOf, ofServices } from '../application/services.ts'
import { addressAt } from '../kafka/connection.ts'
import type { Reached } from '../runner.ts'
import { kafkaOf, serversOf } from './plan.ts'

export function reach(): Reached {
  const ports = localPorts()
  // When Kafka runs as a process, it does not authenticate its clients.
  const kafka = kafkaOf({ ports, ...serversOf(localFolder) })
  return {
    services: ofServices(({ name }) => addressAt('localhost', entryOf(ports.services, name))),
    kafka,
    publisher: kafka,
    observers: { jaeger: ports.jaeger, prometheus: ports.prometheus, grafana: undefined },
  }
}
