import { setTimeout as delay } from 'node:timers/promises'
import { orderEvents as orderEventsTopic, paymentEvents } from '@orderflow/envelope-schema'
import { paymentIdOf } from '@orderflow/payment-service/payment'
import { serviceNamed } from '@orderflow/stack'
import { addPartitions, membersMissing, membersOf, type ProcessSpec } from '@orderflow/stack/internals'
import { topics } from '@orderflow/stack/operate'
import { type Findings, number } from '../report/findings.ts'
import type { Part } from '../report/part.ts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { orderEvents } from '../support/events.ts'
import { type Ledger, ledgerOf, requireComplete } from '../support/ledger.ts'
import { paymentReplica } from '../support/programs.ts'
import { watchStore } from '../support/store.ts'
import type { Stream } from '../support/stream.ts'

interface Step {
  name: string
  /** Seconds until the consumer group is stable. */
  settledSeconds: number
  /** The longest time from an event until its payment was stored. */
  longestWaitSeconds: number
}

const name = 'payment-service'
const eventsPerSecond = 300

/**
 * Measures how long events wait when replicas of payment-service are started, restarted and killed, and checks that no event is lost. A single
 * machine cannot show the speed of more replicas.
 */
export const replicas: Part = {
  title: `1 to 4 replicas of payment-service, ${topics.containers[0]?.partitions} partitions, ${eventsPerSecond} events per second`,

  measure: (run) =>
    withBenchStack(['kafka'], run.tell, async (stack) => {
      await addPartitions(stack.kafka, topics.containers)
      const payments = watchPayments(stack)
      const publisher = publishSteadily(stack.stream)
      const live: ProcessSpec[][] = []
      const steps: Step[] = []

      async function step(name: string, change: () => Promise<void>): Promise<void> {
        run.tell(name)
        const from = performance.now()
        await change()
        await settled()
        const settledSeconds = (performance.now() - from) / 1_000
        await delay(run.quick ? 500 : 5_000)
        const sent = [...publisher.sentAt].filter(([, at]) => at >= from)
        await stack.wait('all payments', live.flat(), async () => {
          const open = sent.filter(([id]) => !payments.storedAt.has(id)).length
          return open > 0 ? `${open} of ${sent.length} events are not paid` : undefined
        })
        const waits = sent.map(([id, at]) => (payments.storedAt.get(id) ?? Number.NaN) - at)
        steps.push({
          name,
          settledSeconds,
          longestWaitSeconds: waits.reduce((most, wait) => Math.max(most, wait), 0) / 1_000,
        })
      }
      const settled = () => stack.wait(`${live.length} replicas`, live.flat(), () => unsettled(stack, live.length))
      const join = (number: number) => async () => {
        const replica = await paymentReplica(stack, number)
        stack.launch(replica)
        live.push(replica)
      }
      /** Restarts replicas as `./orderflow restart` does in containers. */
      const restart = async () => {
        for (const replica of live) {
          for (const process of replica) await stack.stop([process])
          stack.launch(replica)
          await settled()
        }
      }
      const die = async () => stack.signal(live.shift() ?? [], 'SIGKILL')

      await step('the first replica starts', join(1))
      await step('a second replica joins', join(2))
      await step('a third replica joins', join(3))
      await step('a fourth replica joins', join(4))
      await step('all four replicas restart, one after the other', restart)
      await step('one of four replicas is killed', die)
      await step('one of three replicas is killed', die)
      const orders = await publisher.stop()
      return findings(steps, await settle(stack, payments, orders))
    }),
}

/** Records the time when each payment was first found in the store, by the payment’s id. */
function watchPayments({ database }: BenchStack) {
  const storedAt = new Map<string, number>()
  const stop = watchStore(database('payment'), { key: '%payment/%' }, (keys, at) => {
    for (const key of keys) {
      const id = key.split('/').at(-1) ?? ''
      storedAt.set(id, storedAt.get(id) ?? at)
    }
  })
  return { storedAt, stop }
}

/** Publishes until it is stopped. Records the time of each event under the id of its payment. */
function publishSteadily(stream: Stream) {
  const sentAt = new Map<string, number>()
  const orders: string[] = []
  const start = performance.now()
  let stopped = false
  async function run(): Promise<string[]> {
    while (!stopped) {
      const due = Math.floor(((performance.now() - start) / 1_000) * eventsPerSecond) - orders.length
      const events = [...orderEvents(due)]
      for (const { key } of events) {
        orders.push(key)
        sentAt.set(paymentIdOf(key), performance.now())
      }
      await stream.publish(orderEventsTopic, events)
      await delay(20)
    }
    return orders
  }
  const running = run()
  return {
    sentAt,
    stop: () => {
      stopped = true
      return running
    },
  }
}

/** Returns undefined when the group’s members have all partitions. */
function unsettled({ kafka }: BenchStack, replicas: number): Promise<string | undefined> {
  return membersMissing(kafka, name, replicas * membersOf(serviceNamed(name)))
}

/** @throws {Error} if a stored payment or its announcement is missing */
async function settle(
  stack: BenchStack,
  payments: ReturnType<typeof watchPayments>,
  orders: string[],
): Promise<Ledger> {
  const expected = orders.map(paymentIdOf)
  await stack.wait('the last payments', [], async () => {
    const open = expected.filter((id) => !payments.storedAt.has(id)).length
    return open > 0 ? `${open} are not stored` : undefined
  })
  payments.stop()
  requireComplete('payments', ledgerOf(expected, payments.storedAt.keys()))
  let ledger: Ledger | undefined
  await stack.wait('the last announcements', [], async () => {
    ledger = ledgerOf(orders, await stack.stream.keys(paymentEvents))
    return ledger.lost > 0 ? `${ledger.lost} are not published` : undefined
  })
  return requireComplete('announcements', ledger as Ledger)
}

function findings(steps: Step[], ledger: Ledger): Findings {
  const { expected, lost, repeated } = ledger
  const outcome = `Of ${number(expected)} events, ${number(lost)} were lost, and ${number(repeated)} payments announced again`
  return {
    tables: [
      {
        title: `Seconds until the consumer group is stable, and the longest wait for a payment. ${outcome}`,
        head: ['', 'stable after s', 'longest wait s'],
        rows: steps.map(({ name, settledSeconds, longestWaitSeconds }) => [
          name,
          number(settledSeconds, 1),
          number(longestWaitSeconds, 1),
        ]),
      },
    ],
    goals: [],
    figures: { steps, ledger },
  }
}
