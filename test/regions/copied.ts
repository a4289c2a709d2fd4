import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { type LogRecord, openLog } from '@orderflow/kafka-log'
import { kafkaOf } from '@orderflow/stack/internals'
import type { Region } from './region.ts'

/** The copied records of a region. */
export interface Copied {
  /** The OrderIds of all copied events. */
  orders: Set<string>
  /** The orders whose payment was not copied. */
  unpaid: string[]
  /** The unpaid orders that payment-service would skip at its copied position. */
  passed: string[]
  /** The time of the newest record, in milliseconds since 1970. */
  newest: number
}

export async function readCopied(region: Region): Promise<Copied> {
  const created = new Map<string, LogRecord>()
  const paid = new Set<string>()
  let newest = 0
  const log = openLog(kafkaOf(region.plan))
  try {
    for (const topic of [orderEvents, paymentEvents]) {
      for await (const records of log.read(topic, await log.spans(topic))) {
        for (const record of records) {
          newest = Math.max(newest, record.timestamp)
          const { Payload } = JSON.parse(String(record.value)) as { Payload: { OrderId: string } }
          if (topic === paymentEvents) paid.add(Payload.OrderId)
          else created.set(Payload.OrderId, created.get(Payload.OrderId) ?? record)
        }
      }
    }
  } finally {
    await log.close()
  }
  const unpaid = [...created.keys()].filter((id) => !paid.has(id))
  const positions = new Map(
    (await region.positions())
      .filter(({ group, topic }) => group === 'payment-service' && topic === orderEvents)
      .map(({ partition, next }) => [partition, next]),
  )
  const isPassed = (id: string) => {
    const { partition = -1, offset = 0n } = created.get(id) ?? {}
    return offset < (positions.get(partition) ?? 0n)
  }
  return { orders: new Set([...created.keys(), ...paid]), unpaid, passed: unpaid.filter(isPassed), newest }
}
