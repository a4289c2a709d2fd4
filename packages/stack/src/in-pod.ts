import { reportFailure } from './application/report.ts'
import { print } from './base/terminal.ts'
import { kafkaConnection } from './kafka/connection.ts'
import { untilAllConsume } from './kafka/readiness.ts'
import { topics } from './kafka/topics.ts'
import { streamTroubles } from './troubles.ts'

// `make up` and `make status` run this program in a pod of the cluster, where Kafka is reachable:
//
//   node src/in-pod.ts await-consumers                waits until all services consume
//   node src/in-pod.ts stream-troubles [--users]      prints a line for each wrong setting of Kafka
//
// With --users it also checks the users that the setup job creates.
const [work, users] = process.argv.slice(2)

async function run(): Promise<void> {
  const kafka = kafkaConnection(process.env)
  if (work === 'await-consumers') return await untilAllConsume(kafka, print)
  for (const trouble of await streamTroubles(kafka, topics.containers, users === '--users')) print(trouble)
}

await run().catch(reportFailure)
