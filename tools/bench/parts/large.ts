import { orderEvents as topic } from '@orderflow/envelope-schema'
import type { ProcessSpec } from '@orderflow/stack/internals'
import { atMost, type Findings, mebibytes, number } from '../report/findings.ts'
import type { Part } from '../report/part.ts'
import { untilCaughtUp } from '../support/backlog.ts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { orderEvents } from '../support/events.ts'
import { type PeakMemory, watchMemory } from '../support/process-use.ts'

/** Almost the largest size of a record in bytes (topic-settings.ts). */
const largeBytes = 250_000

interface Load {
  name: string
  events: number
  bytes: number
  total: () => number
}

interface Sample extends Load {
  peaks: PeakMemory
}

/** The records wait in Kafka, so that deliveries are full. */
export const large: Part = {
  title: `memory of payment-service and its sidecar for records of ${number(largeBytes)} bytes, with PostgreSQL`,

  measure: (run) =>
    withBenchStack(['kafka', 'postgresql'], run.tell, async (stack) => {
      const specs = ['payment-service', 'payment-sidecar'].map((name) => stack.specOf(name))
      const share = run.quick ? 10 : 1
      const loads: Load[] = [
        { name: 'small records', events: 12_000 / share, bytes: 0, total: () => 10 },
        { name: 'large records', events: 900 / share, bytes: largeBytes, total: () => 10 },
        { name: 'large dead letters', events: 900 / share, bytes: largeBytes, total: () => -1 },
      ]
      stack.launch(specs)
      await stack.wait('payment-service', specs, () =>
        stack.stream.lag(topic, 'payment-service').then(
          () => undefined,
          () => 'it does not consume yet',
        ),
      )
      const samples: Sample[] = []
      for (const load of [...loads.slice(0, 1), ...loads]) {
        run.tell(load.name)
        samples.push({ ...load, peaks: await peaksOf(stack, specs, load) })
      }
      await stack.stop(specs)
      // The first load only warms up the programs.
      return findings(samples.slice(1))
    }),
}

async function peaksOf(stack: BenchStack, specs: ProcessSpec[], { events, bytes, total }: Load): Promise<PeakMemory> {
  stack.signal(specs, 'SIGSTOP')
  // Slices limit the memory of this process.
  for (let left = events; left > 0; left -= 100) {
    await stack.stream.publish(topic, orderEvents(Math.min(left, 100), bytes, total))
  }
  const peaks = watchMemory(stack.plan.folder)
  stack.signal(specs, 'SIGCONT')
  await untilCaughtUp(stack, specs, ['payment-service', topic])
  return peaks()
}

function findings(samples: Sample[]): Findings {
  const largest = samples.reduce((most, { peaks }) => Math.max(most, peaks['payment-service'] ?? Number.NaN), 0)
  return {
    tables: [
      {
        title: 'Largest resident memory in MiB',
        head: ['', 'records', 'payment-service', 'sidecar', 'Kafka'],
        rows: samples.map(({ name, events, peaks }) => [
          name,
          number(events),
          ...['payment-service', 'payment-sidecar', 'kafka'].map((process) => mebibytes(peaks[process] ?? Number.NaN)),
        ]),
      },
    ],
    goals: [atMost('largest memory of payment-service, MiB', largest / 2 ** 20, 300)],
    figures: samples.map(({ name, events, peaks }) => ({ name, events, peaks })),
  }
}
