import { kafkaConnection } from '../kafka/connection.ts'
import { untilAllConsume } from '../kafka/readiness.ts'
import { addPartitions, topicDifferences, topics } from '../kafka/topics.ts'
import { transactionsWarning } from '../kafka/transactions.ts'
import { timed } from '../lib/terminal.ts'
import { requireRunning } from './addresses.ts'
import { runningWay } from './way.ts'

/**
 * `./orderflow partitions`: adds the partitions that topics lack of those that services.json says, and waits until all services consume them.
 * Of the stack that runs; or of the Kafka that the environment names, where nobody is waited for.
 */
export async function partitions(env: NodeJS.ProcessEnv): Promise<void> {
  const tell = timed()
  const isNamed = Boolean(env.Stream__Brokers)
  const kafka = isNamed ? kafkaConnection(env) : (await requireRunning()).kafka
  const surroundings = !isNamed && (await runningWay()) === 'local' ? 'processes' : 'containers'
  const added = await addPartitions(kafka, topics[surroundings])
  for (const line of added) tell(line)
  const warning = isNamed ? await transactionsWarning(kafka) : undefined
  for (const line of isNamed ? await topicDifferences(kafka, topics[surroundings]) : []) tell(`warning: ${line}`)
  if (warning) tell(`warning: ${warning}`)
  if (added.length === 0) return tell('every topic has the partitions of services.json')
  if (isNamed) return
  tell('waiting for the sidecars to take part in them')
  await untilAllConsume(kafka, tell)
}
