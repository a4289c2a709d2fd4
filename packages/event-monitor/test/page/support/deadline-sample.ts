import type { ConversationDeadlines, Deadlines, DelayReason, OpenDeadline } from '../../../src/api/index.ts'
import { completenessOf, guid, isoAt } from './sample.ts'

const open = (number: number, deadline: string, ms: number): OpenDeadline => ({
  ...{ service: 'order-service', entity: 'order', id: guid(5, number), deadline },
  ...{ due: isoAt(ms), isFired: false },
})
const listed = (one: OpenDeadline, delayedBy: DelayReason | null = null) => ({ ...one, delayedBy })

export const deadlines = (): Deadlines => ({
  services: [
    {
      ...{ service: 'order-service', problem: null, now: isoAt(0), hold: null, unhandled: 2 },
      counts: [
        { entity: 'order', deadline: 'PaymentDue', overdue: 2, nextHour: 12_345, nextDay: 0, later: 7 },
        { entity: 'order', deadline: 'Reminder', overdue: 0, nextHour: 6_000, nextDay: 0, later: 0 },
      ],
      isWhole: true,
      items: [
        listed({ ...open(1, 'PaymentDue', -90_000), isFired: true }, 'undecided'),
        listed(open(2, 'PaymentDue', -30_000), 'takeover'),
        listed(open(3, 'Reminder', 600_000)),
        listed({ ...open(4, 'PaymentDue', 900_000), id: '*** (12 characters)' }),
      ],
      checked: 2_000,
    },
    { service: 'stock-service', problem: 'it does not answer' },
  ],
  undecided: [
    {
      ...{ entry: guid(9, 4), position: { topic: 'deadlines', partition: 0, offset: '12' }, at: isoAt(-80_000) },
      ...{ service: 'order-service', reason: 'handler-error', entity: 'order', deadline: 'PaymentDue' },
      correlationId: guid(2, 1),
    },
  ],
  undecidedTotal: 1,
  complete: completenessOf(),
})

export const conversationDeadlines = (): ConversationDeadlines => ({ items: [], problems: [] })

/** Returns an open deadline of the sample's order. */
export const waiting = (deadline: string, due: string, isFired = false): OpenDeadline => ({
  ...open(1, deadline, 0),
  ...{ due, isFired },
})
