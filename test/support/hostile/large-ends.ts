import { positionText } from '@orderflow/kafka-log'
import { readDeadLetters } from '@orderflow/service-kit/operations'
import { documentsIn, type Role, strictTrust, World } from '../memory/world.ts'
import { type Delivered, deliverHostile } from './deliver-hostile.ts'
import { endOf } from './expected.ts'
import type { LargeRecord } from './large-records.ts'

export interface LargeEnd {
  role: Role
  record: LargeRecord
  /** The reason of the record’s dead letter, or `fact`, or `nothing`. */
  end: string
  isExpected: boolean
}

export async function deliverLarge(records: LargeRecord[]): Promise<Delivered & { ends: LargeEnd[] }> {
  const world = new World('state.sqlite', strictTrust)
  const before = await deliverHostile(
    records.flatMap(({ first }) => (first ? [first] : [])),
    world,
  )
  const delivered = await deliverHostile(records, world)
  const { entries } = await readDeadLetters(world.log)
  const ends = world.subscriptions.flatMap(([role, topic]) => {
    const documents = documentsIn(world.stores[role])
    const reasons = new Map(
      entries
        .filter(({ app }) => app === `${role}-service`)
        .flatMap(({ attempts }) => attempts.map(({ position, reason }) => [positionText(position), reason] as const)),
    )
    return records.flatMap((record, index): LargeEnd[] => {
      if (record.topic !== topic) return []
      const reason = reasons.get(delivered.positions[index] ?? '')
      const known = endOf(role, record, true)
      const isFact = typeof known === 'object' && known.isIn(documents)
      const end = reason ?? (isFact ? 'fact' : 'nothing')
      return [{ role, record, end, isExpected: end === (record.reason ?? 'fact') }]
    })
  })
  return { ...delivered, stopped: [...before.stopped, ...delivered.stopped], ends }
}
