import type { KafkaConnection } from '@orderflow/kafka-log'
import { userTroubles } from './kafka/access.ts'
import { type TopicSpec, topicDifferences, topics } from './kafka/topics.ts'
import { transactionsWarning } from './kafka/transactions.ts'
import type { Readiness, Runner, ServiceProbe } from './runner.ts'

/** Returns a line for each problem of the running services and of Kafka. */
export async function troublesOf(runner: Runner): Promise<string[]> {
  const ofServices = await serviceTroubles(await runner.runningServices())
  // Not at the same time: in Kubernetes this starts a pod, which could slow down the answers of services on a small machine.
  const ofStream = runner.inside?.streamTroubles() ?? streamTroubles(runner.reach().kafka, topics[runner.surroundings])
  return [...ofServices, ...(await ofStream)]
}

/** Returns a line for each missing part of a service, for each warning, and for each record that the service cannot handle. */
export async function serviceTroubles(running: readonly ServiceProbe[]): Promise<string[]> {
  const all = await Promise.all(
    running.map(async ({ name, ask }) => {
      const ready = await ask().catch(() => undefined)
      return ready ? linesOf(name, ready) : [`${name} does not answer`]
    }),
  )
  return all.flat()
}

function linesOf(name: string, { missing = {}, warnings = [], redelivered = [] }: Readiness): string[] {
  return [
    ...Object.entries(missing).map(([part, why]) => `${name} is not ready: ${part}: ${why}`),
    ...warnings.map((warning) => `${name}: ${warning}`),
    ...redelivered.map(
      ({ topic, partition, offset, deliveries }) =>
        `${name} cannot handle ${topic}/${partition}/${offset}: delivered ${deliveries} times (make logs SERVICE=${name})`,
    ),
  ]
}

/**
 * Returns a line for each wrong setting of Kafka. The list is empty if Kafka does not answer.
 * @param hasUsers true if the stack creates users in this Kafka
 */
export async function streamTroubles(
  kafka: KafkaConnection,
  specs: TopicSpec[],
  hasUsers = kafka.sasl !== undefined,
): Promise<string[]> {
  const checks = [
    ...(hasUsers ? [userTroubles(kafka)] : []),
    topicDifferences(kafka, specs),
    transactionsWarning(kafka).then((warning) => (warning ? [warning] : [])),
  ]
  return (await Promise.all(checks.map((check) => check.catch(() => [])))).flat()
}
