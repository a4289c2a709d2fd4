import { setTimeout as delay } from 'node:timers/promises'
import type { KafkaConnection } from '@orderflow/stack'
import type { Book } from '../ledger/book.ts'
import type { Load } from '../load/http-load.ts'
import { outsideOrder } from '../load/orders.ts'
import { startPace } from '../load/pace.ts'
import { createRandom } from '../load/random.ts'
import { contradiction, type KnownOrder, poisonRecord } from './poison.ts'
import { createOutsideProducer } from './producer.ts'
import { type Outgoing, poisonous, recordsOf, unheard } from './records.ts'

export interface OutsideLoadOptions {
  kafka: KafkaConnection
  book: Book
  /** Orders that are paid. An event that contradicts one of them is also a poison record. */
  paid: readonly KnownOrder[]
  isOver: () => boolean
}

export interface OutsideLoad extends Load {
  failures(): number
}

/** The number of poison records per order. */
const poisonShare = 0.01
const unheardShare = 0.005
/** The largest number of records in a batch, which must stay below the topic’s limit of 256 KiB. */
const maxRecords = 100
/** If more records than this wait, no new orders begin until the producer has caught up. */
const maxWaiting = 2_000
const tickMs = 10

/** Starts an outside publisher with a steady rate and a plain Kafka client. */
export function startOutsideLoad(seed: string, perSecond: number, options: OutsideLoadOptions): OutsideLoad {
  const { book, paid, isOver } = options
  const producer = createOutsideProducer(options.kafka, isOver)
  const waiting: (Outgoing & { dueAt: number })[] = []
  let begun = 0
  let poisoned = 0

  const wait = (outgoing: Outgoing) => void waiting.push({ ...outgoing, dueAt: performance.now() + outgoing.afterMs })

  function begin(index: number): void {
    begun += 1
    // Poison records depend on the paid orders, so they need their own random numbers.
    const random = createRandom(seed, 'poison', index)
    recordsOf(outsideOrder(seed, index), book).forEach(wait)
    if (random.chance(unheardShare)) wait(unheard())
    if (!random.chance(poisonShare)) return
    poisoned += 1
    const name = `poison ${poisoned}`
    const known = random.chance(0.1) ? paid.at(-1) : undefined
    wait(poisonous(name, known ? contradiction(known) : poisonRecord(random), book))
  }

  let isEnding = false

  /** Removes and returns at most `maxRecords` records that are due. At the end, all records are treated as due. */
  function takeDue(): Outgoing[] {
    const now = performance.now()
    const taken: Outgoing[] = []
    for (let index = 0; index < waiting.length && taken.length < maxRecords; ) {
      const [next] = waiting.slice(index, index + 1)
      if (next && (isEnding || next.dueAt <= now)) {
        waiting.splice(index, 1)
        taken.push(next)
      } else index += 1
    }
    return taken
  }

  async function publish(): Promise<void> {
    while (!(isEnding && waiting.length === 0)) {
      const due = takeDue()
      for (const { attempted } of due) attempted()
      const isSent = due.length > 0 && (await producer.send(due.map(({ record }) => record)))
      if (isSent) for (const { accepted } of due) accepted()
      else await delay(tickMs)
    }
  }
  const publishing = publish()
  const pace = startPace(perSecond, () => waiting.length < maxWaiting, begin)

  return {
    begun: () => begun,
    failures: producer.failures,
    async end() {
      await pace.stop()
      isEnding = true
      await publishing
      await producer.close()
    },
  }
}
