import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { readProject } from '../containers/project.ts'
import { requireContainers } from '../containers/status.ts'
import { type Addresses, addressAt, localKafka } from '../kafka/connection.ts'
import { localFolder } from '../lib/paths.ts'
import { localPorts } from '../lib/ports.ts'
import { entryOf, ofServices } from '../lib/services.ts'
import { requireUp } from '../processes/status.ts'
import { runningWay } from './way.ts'

/** What a command reaches. */
interface Reached extends Addresses {
  /** Kafka as an application outside reaches it. */
  publisher: KafkaConnection
}

/** Where the stack of `make up` is reached when it runs as processes, whose Kafka asks nobody who he is. */
export function localAddresses(): Reached {
  const { kafka, services } = localPorts()
  return {
    services: ofServices(({ name }) => addressAt('localhost', entryOf(services, name))),
    kafka: localKafka(kafka),
    publisher: localKafka(kafka),
  }
}

/**
 * Where the stack of `make up` is reached, when these parts of it run; all of them when left out.
 * @throws {StackError} `not-running` naming what does not run
 */
export async function requireRunning(parts?: readonly string[]): Promise<Reached> {
  const project = readProject()
  if (project && (await runningWay()) === 'docker') {
    await requireContainers(project, parts)
    return project
  }
  requireUp(localFolder, parts)
  return localAddresses()
}
