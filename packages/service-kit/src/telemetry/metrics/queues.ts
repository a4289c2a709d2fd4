import { Gauge, Histogram } from 'prom-client'
import { durations, sizes } from './buckets.ts'
import type { MetricsRegistry } from './registry.ts'

/** What queues tell (`QueueWatch`), by a name of each: what the batches of a service do. */
export function queueMetrics(registry: MetricsRegistry) {
  const registers = [registry]
  const waiting = new Map<string, () => number>()
  new Gauge({
    name: 'orderflow_queue_depth',
    help: 'Items that wait for the next batch: documents to be stored, events to be published to a topic.',
    labelNames: ['queue'],
    registers,
    collect() {
      for (const [queue, count] of waiting) this.set({ queue }, count())
    },
  })
  const waits = new Histogram({
    name: 'orderflow_queue_wait_seconds',
    help: 'How long the first item of a batch waited for it.',
    labelNames: ['queue'],
    buckets: durations,
    registers,
  })
  const batches = new Histogram({
    name: 'orderflow_batch_size_items',
    help: 'Items in a batch.',
    labelNames: ['queue'],
    buckets: sizes,
    registers,
  })
  const flushes = new Histogram({
    name: 'orderflow_flush_seconds',
    help: 'How long it took to store or publish a batch, with all attempts.',
    labelNames: ['queue'],
    buckets: durations,
    registers,
  })

  return (queue: string) => ({
    opened: (count: () => number) => void waiting.set(queue, count),
    flushed(items: number, waitedMs: number, tookMs: number) {
      batches.observe({ queue }, items)
      waits.observe({ queue }, waitedMs / 1_000)
      flushes.observe({ queue }, tookMs / 1_000)
    },
  })
}
