import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { orderEvents as input } from '@orderflow/envelope-schema'
import { repository } from '@orderflow/stack/base'
import type { ProcessSpec } from '@orderflow/stack/internals'
import { atLeast, type Findings, number } from '../report/findings.ts'
import type { Part } from '../report/part.ts'
import { median } from '../report/statistics.ts'
import { answerBacklog, untilCaughtUp } from '../support/backlog.ts'
import { type BenchStack, stores, withBenchStack } from '../support/bench-stack.ts'
import { orderEvents } from '../support/events.ts'

type Orders = ReturnType<typeof orderEvents>

interface Sample {
  store: string
  oneKey: number[]
  manyKeys: number[]
}

/** The records wait in Kafka, so that deliveries are full. */
export const key: Part = {
  title: 'events of one key, decided by an entity with evolve (tools/bench/key)',

  async measure(run) {
    const [rounds, count] = run.quick ? [1, 2_000] : [3, 20_000]
    const samples: Sample[] = []
    for (const [store, parts] of stores) {
      await withBenchStack(parts, run.tell, async (stack) => {
        const specs = [balanceService(stack.specOf('payment-service')), stack.specOf('payment-sidecar')]
        stack.launch(specs)
        await decide(stack, specs, orderEvents(1_000))
        const sample: Sample = { store, oneKey: [], manyKeys: [] }
        for (let round = 1; round <= rounds; round += 1) {
          const orders = orderEvents(count, 0, (index) => index + 1)
          sample.oneKey.push(await decide(stack, specs, withKey(randomUUID(), orders)))
          sample.manyKeys.push(await decide(stack, specs, orderEvents(count)))
          const [one = 0, many = 0] = [sample.oneKey.at(-1), sample.manyKeys.at(-1)]
          run.tell(`${store}: ${Math.round(one)} and ${Math.round(many)} events/s`)
        }
        samples.push(sample)
        await stack.stop(specs)
      })
    }
    return findings(samples)
  },
}

const balanceService = (spec: ProcessSpec): ProcessSpec => ({
  ...spec,
  args: spec.args.map((arg) =>
    arg.endsWith('src/main.ts') ? join(repository, 'tools/bench/key/balance-service.ts') : arg,
  ),
})

function* withKey(key: string, orders: Orders): Orders {
  for (const { value } of orders) {
    const envelope = JSON.parse(value.toString())
    yield { key, value: Buffer.from(JSON.stringify({ ...envelope, Payload: { ...envelope.Payload, OrderId: key } })) }
  }
}

/** Returns how many of these orders the service decides per second. Then it waits until no work is left for the next measurement. */
async function decide(stack: BenchStack, specs: ProcessSpec[], orders: Orders): Promise<number> {
  const perSecond = await answerBacklog(stack, specs, orders)
  await untilCaughtUp(stack, specs, ['payment-service', input])
  return perSecond
}

function findings(samples: Sample[]): Findings {
  return {
    tables: [
      {
        title: 'Events per second, median of the rounds',
        head: ['', 'one key', 'different keys'],
        rows: samples.map(({ store, oneKey, manyKeys }) => [store, number(median(oneKey)), number(median(manyKeys))]),
      },
    ],
    goals: samples.map(({ store, oneKey }) => atLeast(`events/s of one key, ${store}`, median(oneKey), 2_000)),
    figures: samples,
  }
}
