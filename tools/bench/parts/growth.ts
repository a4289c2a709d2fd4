import { paymentEvents } from '@orderflow/envelope-schema'
import { storedServices } from '@orderflow/stack'
import { atMost, type Findings, mebibytes, number } from '../report/findings.ts'
import type { Part } from '../report/part.ts'
import { type BenchStack, orderProcesses, withBenchStack } from '../support/bench-stack.ts'
import { plainEventBytes, publishOrders } from '../support/events.ts'
import { type PeakMemory, watchMemory } from '../support/process-use.ts'
import { countArrivals, paidOrders } from '../support/store.ts'
import { distance } from '../support/stream.ts'
import { numbersFrom } from '../support/variables.ts'

interface Size {
  events: number
  bytes: number
}

interface Sample extends Size {
  perSecond: number
  peaks: PeakMemory
}

/** EVENTS=1000000 changes the largest backlog. */
export const growth: Part = {
  title: 'a backlog of outside events until all orders are Paid: 1, 4 and 16 times the events and their size',

  async measure(run) {
    const [most = 0] = numbersFrom('EVENTS', run.quick ? '1600' : '48000')
    const moreEvents = [16, 4, 1].map((part) => ({ events: Math.ceil(most / part), bytes: plainEventBytes }))
    const largerEvents = [4, 16].map((factor) => ({ events: Math.ceil(most / 4), bytes: factor * plainEventBytes }))
    const samples: Sample[] = []
    for (const size of [...moreEvents, ...largerEvents]) {
      run.tell(nameOf(size))
      samples.push(await withBenchStack(['kafka'], run.tell, (stack) => measureSize(stack, size)))
    }
    return findings(samples)
  },
}

const nameOf = ({ events, bytes }: Size) => `${number(events)} of ${number(bytes)} bytes`

/** Publishes the backlog, then starts the services and measures until all orders are Paid. */
async function measureSize(stack: BenchStack, size: Size): Promise<Sample> {
  await publishOrders(stack.stream, size.events, size.bytes - plainEventBytes)
  const started = orderProcesses.filter((name) => name !== 'kafka').map(stack.specOf)
  const before = await stack.stream.ends(paymentEvents)
  const arrivals = countArrivals(stack.database('order'), paidOrders)
  const stopWatching = watchMemory(stack.plan.folder)
  let firstAt = performance.now()
  stack.launch(started)
  await stack.wait(
    `the orders of ${nameOf(size)} to be Paid`,
    started,
    async () => {
      const published = distance(before, await stack.stream.ends(paymentEvents))
      if (published === 0) firstAt = performance.now()
      return published < size.events ? `${published} are published` : arrivals.missing(size.events)
    },
    size.events * patienceMs + 60_000,
  )
  const perSecond = (size.events * 1_000) / (performance.now() - firstAt)
  const peaks = stopWatching()
  arrivals.close()
  return { ...size, perSecond, peaks }
}

/** The time per event after which the benchmark gives up. It is enough for a slow machine. */
const patienceMs = 10

function findings(samples: Sample[]): Findings {
  const peakOf = ({ peaks }: Sample, name: string) => (peaks[name] ?? Number.NaN) / 2 ** 20
  const largest = samples.flatMap((sample) => storedServices.map(({ name }) => peakOf(sample, name)))
  return {
    tables: [
      {
        title: 'Events per second, from the first payment to the last order Paid; largest resident memory in MiB',
        head: ['events', 'events/s', ...orderProcesses],
        rows: samples.map((sample) => [
          nameOf(sample),
          number(sample.perSecond),
          ...orderProcesses.map((name) => mebibytes(sample.peaks[name] ?? Number.NaN)),
        ]),
      },
    ],
    goals: [
      atMost(
        'largest memory of a service, MiB',
        largest.reduce((most, size) => Math.max(most, size), -Infinity),
        300,
      ),
    ],
    figures: samples,
  }
}
