import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { orderEvents } from '@orderflow/envelope-schema'
import { localKafka } from '@orderflow/stack/internals'
import { orderEvents as envelopes } from '../support/events.ts'
import { openStream } from '../support/stream.ts'

// Publishes events at a steady rate, as a worker thread. Posts the number of events at the end.

export interface Publishing {
  port: number
  perSecond: number
  seconds: number
}

const { port, perSecond, seconds } = workerData as Publishing
const stream = openStream(localKafka(port))
const begun = performance.now()
let events = 0
while (performance.now() - begun < seconds * 1_000) {
  if (events >= ((performance.now() - begun) * perSecond) / 1_000) await delay(5)
  else {
    await stream.publish(orderEvents, envelopes(500))
    events += 500
  }
}
await stream.close()
parentPort?.postMessage(events)
