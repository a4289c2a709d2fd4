import { join } from 'node:path'
import { orderEvents } from '@orderflow/envelope-schema'
import { repository } from '@orderflow/stack/base'
import { type Findings, number } from '../report/findings.ts'
import { inTurn, type Part } from '../report/part.ts'
import { percentile } from '../report/statistics.ts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { placeOrders } from '../support/load.ts'
import { startOrders } from '../support/programs.ts'
import { copyTopic, openStream, type Stream } from '../support/stream.ts'

interface Contender {
  name: string
  url: string
  topic: string
  orderIdOf: (record: { Payload?: { OrderId?: string }; data?: { id?: string } }) => string | undefined
}

interface Sample {
  /** Milliseconds from the due time of each order until it was answered, and until its event was in the log. */
  answered: number[]
  inLog: number[]
  ordersPerSecond: number
}

const ordersPerSecond = 10
/** Dapr’s name of its internal topic (pkg/runtime/pubsub/outbox.go): namespace, app-id, topic, `outbox`. */
const internalTopic = 'defaultoutbox-ordersoutbox-ordereventsoutbox'

/** The rate is low, because Dapr’s transactional outbox is slow by design. */
export const outbox: Part = {
  title: `OrderCreated in the log, ${ordersPerSecond} orders per second, compared with Dapr's transactional outbox`,

  measure: (run) =>
    withBenchStack(['kafka', 'order-service', 'order-sidecar'], run.tell, async (stack) => {
      const seconds = run.quick ? 1 : 4
      for (const topic of ['outbox-orderevents', internalTopic]) await copyTopic(stack.kafka, orderEvents, topic)
      const stream = openStream(stack.kafka)
      const sidecarFlags = ['--resources-path', join(repository, 'tools/bench/compare/outbox')]
      const contenders: Contender[] = [
        {
          name: 'orderflow',
          url: stack.ordersUrl,
          topic: orderEvents,
          orderIdOf: ({ Payload }) => Payload?.OrderId,
        },
        {
          name: "Dapr's outbox",
          url: await startOrders(stack, 'outbox-orders', { topic: 'outbox-orderevents', sidecarFlags }),
          topic: 'outbox-orderevents',
          orderIdOf: ({ data }) => data?.id,
        },
      ]
      run.tell('warming up')
      for (const contender of contenders) await place(stack, stream, contender, 1)
      const samples = await inTurn(run, contenders, 1, (contender) => place(stack, stream, contender, seconds))
      await stream.close()
      return findings([...samples].flatMap(([{ name }, found]) => found.map((sample) => ({ name, ...sample }))))
    }),
}

async function place(stack: BenchStack, stream: Stream, contender: Contender, seconds: number): Promise<Sample> {
  const seenAt = new Map<string, number>()
  const stopFollowing = await stream.follow(contender.topic, (value) => {
    const orderId = contender.orderIdOf(JSON.parse(value.toString()))
    if (orderId) seenAt.set(orderId, performance.now())
  })
  const placed = await placeOrders(contender.url, ordersPerSecond, seconds)
  const refused = placed.find(({ id }) => id === undefined)
  if (refused) throw new Error(`${contender.name} returned ${refused.status}`)
  await stack.wait(`the events of ${contender.name}`, [], async () => {
    const missing = placed.filter(({ id = '' }) => !seenAt.has(id)).length
    return missing > 0 ? `${missing} of ${placed.length} are not in ${contender.topic}` : undefined
  })
  await stopFollowing()
  const inLog = placed.map(({ id = '', due }) => (seenAt.get(id) ?? Number.NaN) - due)
  const [first, last] = [placed[0]?.due ?? 0, percentile([...seenAt.values()], 1)]
  return {
    answered: placed.map(({ answered, due }) => answered - due),
    inLog,
    ordersPerSecond: (placed.length * 1_000) / (last - first),
  }
}

function findings(samples: (Sample & { name: string })[]): Findings {
  return {
    tables: [
      {
        title: `Milliseconds from when an order is due; ${number(samples[0]?.inLog.length ?? 0)} orders each`,
        head: ['', 'answered p50', 'in the log p50', 'in the log max', 'orders/s into the log'],
        rows: samples.map(({ name, answered, inLog, ordersPerSecond }) => [
          name,
          number(percentile(answered, 0.5)),
          number(percentile(inLog, 0.5)),
          number(percentile(inLog, 1)),
          number(ordersPerSecond, 1),
        ]),
      },
    ],
    goals: [],
    figures: samples,
  }
}
