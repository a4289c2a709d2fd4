import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type ProcessName, type ProcessSpec, repository } from '@orderflow/cli'
import { orderEvents as input, paymentEvents as output } from '@orderflow/envelope-schema'
import { atLeast, type Findings, number } from '../report/findings.ts'
import type { Part } from '../report/part.ts'
import { median } from '../report/statistics.ts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { orderEvents } from '../support/events.ts'
import { distance, openStream, type Stream } from '../support/stream.ts'

const stores: [name: string, parts: ProcessName[]][] = [
  ['SQLite', ['kafka']],
  ['PostgreSQL', ['kafka', 'postgresql']],
]
const group = 'payment-service'

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
        const stream = openStream(stack.kafka)
        const specs = [balanceService(stack.specOf('payment-service')), stack.specOf('payment-sidecar')]
        stack.launch(specs)
        await decide(stack, specs, stream, orderEvents(1_000))
        const sample: Sample = { store, oneKey: [], manyKeys: [] }
        for (let round = 1; round <= rounds; round += 1) {
          sample.oneKey.push(
            await decide(
              stack,
              specs,
              stream,
              withKey(
                randomUUID(),
                orderEvents(count, 0, (index) => index + 1),
              ),
            ),
          )
          sample.manyKeys.push(await decide(stack, specs, stream, orderEvents(count)))
          run.tell(
            `${store}: ${Math.round(sample.oneKey.at(-1) ?? 0)} and ${Math.round(sample.manyKeys.at(-1) ?? 0)} events/s`,
          )
        }
        samples.push(sample)
        await stack.stop(specs)
        await stream.close()
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

function* withKey(key: string, events: ReturnType<typeof orderEvents>): ReturnType<typeof orderEvents> {
  for (const { value } of events) {
    const envelope = JSON.parse(value.toString())
    yield { key, value: Buffer.from(JSON.stringify({ ...envelope, Payload: { ...envelope.Payload, OrderId: key } })) }
  }
}

/** Publishes events while the service is stopped. Returns how many of them it decides per second. */
async function decide(
  stack: BenchStack,
  specs: ProcessSpec[],
  stream: Stream,
  events: ReturnType<typeof orderEvents>,
): Promise<number> {
  const before = await stream.ends(output)
  const all = [...events]
  stack.signal(specs, 'SIGSTOP')
  await stream.publish(input, all)
  stack.signal(specs, 'SIGCONT')
  const begun = performance.now()
  await stack.wait(`${all.length} decisions`, specs, async () => {
    const count = distance(before, await stream.ends(output))
    if (count > all.length) throw new Error(`${count} events were announced for ${all.length} causes`)
    return count < all.length ? `${count} are announced` : undefined
  })
  const perSecond = (1_000 * all.length) / (performance.now() - begun)
  await stack.wait('the offsets to be committed', specs, async () => {
    const lag = await stream.lag(input, group)
    return lag > 0 ? `${lag} are not` : undefined
  })
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
