import { readProject } from '../containers/project.ts'
import { requireContainers } from '../containers/status.ts'
import { type KafkaConnection, localKafka } from '../kafka/connection.ts'
import { localFolder } from '../lib/paths.ts'
import { defaultPorts } from '../processes/ports.ts'
import { requireUp } from '../processes/status.ts'
import { runningWay } from './way.ts'

/** Where a stack is reached from this machine, however it was started. */
export interface Addresses {
  orderUrl: string
  orderHttpsUrl: string
  paymentUrl: string
  paymentHttpsUrl: string
  kafka: KafkaConnection
}

export const localAddresses: Addresses = {
  orderUrl: `http://localhost:${defaultPorts.order.http}`,
  orderHttpsUrl: `https://localhost:${defaultPorts.order.https}`,
  paymentUrl: `http://localhost:${defaultPorts.payment.http}`,
  paymentHttpsUrl: `https://localhost:${defaultPorts.payment.https}`,
  kafka: localKafka(defaultPorts.kafka),
}

/**
 * Where the stack of `make up` is reached, when these parts of it run; all of them when left out.
 * @throws {StackError} `not-running` naming what does not run
 */
export async function requireRunning(parts?: readonly string[]): Promise<Addresses> {
  const project = readProject()
  if (project && (await runningWay()) === 'docker') {
    await requireContainers(project, parts)
    return project
  }
  requireUp(localFolder, parts)
  return localAddresses
}
