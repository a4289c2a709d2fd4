import type { DeadLetterDetail, DeadLetterEntry, DeadLetterGroups, Job } from '../../../src/api/index.ts'
import { eventDetail } from './event-sample.ts'
import { completenessOf, guid, isoAt } from './sample.ts'

const group = {
  id: 'g1',
  services: ['order-service', 'payment-service'],
  reason: 'invalid-payload',
  name: 'OrderCreated',
  version: 1,
  pointer: '/Payload/Total',
  message: 'must be number',
  publisher: 'shop',
  entries: 45,
  open: 42,
  oldest: isoAt(-3_600_000),
  newest: isoAt(0),
}

export const groups = (): DeadLetterGroups => ({
  groups: [
    group,
    {
      ...group,
      id: 'g2',
      reason: 'untrusted',
      pointer: null,
      message: 'intruder is not listed in trust.json',
      publisher: 'intruder',
      name: 'OrderCancelled',
      entries: 3,
      open: 3,
    },
    {
      ...group,
      id: 'g3',
      services: ['order-service'],
      reason: 'not-json',
      pointer: null,
      message: 'the value is no JSON',
      publisher: null,
      name: null,
      version: null,
      entries: 1,
      open: 0,
    },
  ],
  others: 2,
  open: 45,
  complete: completenessOf(),
})

const problem = { pointer: '/Payload/Total', message: 'must be number' }

export const entry = (number: number, some: Partial<DeadLetterEntry> = {}): DeadLetterEntry => ({
  id: guid(9, number),
  services: [
    { app: 'order-service', id: guid(10, number), reason: 'invalid-payload', problem },
    { app: 'payment-service', id: guid(9, number), reason: 'invalid-payload', problem },
  ],
  group: 'g1',
  reason: 'invalid-payload',
  origin: { topic: 'orderevents', partition: 1, offset: String(1200 + number) },
  state: 'open',
  attempts: [
    {
      position: { topic: 'orderevents', partition: 1, offset: String(1200 + number) },
      at: isoAt(number * 60_000),
      rejections: ['order-service', 'payment-service'].map((app, index) => ({
        app,
        reason: 'invalid-payload',
        deadLetter: { topic: 'orderevents.dead', partition: 0, offset: String(2 * number + index) },
      })),
      replayed: null,
    },
  ],
  name: 'OrderCreated',
  version: 1,
  publisher: 'shop',
  problem,
  ...some,
})

export const entries = () => Array.from({ length: 42 }, (_, index) => entry(index + 4))

export function entryDetail(some: Partial<DeadLetterDetail> = {}): DeadLetterDetail {
  const event = eventDetail()
  return {
    entry: entry(4),
    attempt: entry(4).origin,
    faults: [{ pointer: '/Payload/Total', message: 'must be number', hint: 'write it without quotes: 12.5' }],
    detail: null,
    editable: JSON.stringify(event.document, null, 2),
    event,
    refusals: ['/Payload/Total must be number'],
    ...some,
  }
}

export const job = (some: Partial<Job> = {}): Job => ({
  id: 'job-1',
  state: 'done',
  by: 'anybody on this machine',
  startedAt: isoAt(60_000),
  endedAt: isoAt(70_000),
  perSecond: 50,
  group: 'g2',
  edited: false,
  total: 120,
  replayed: 117,
  refused: 2,
  done: 1,
  outcomes: [
    { entry: guid(9, 1), result: 'replayed', as: { topic: 'orderevents', partition: 0, offset: '2300' }, why: [] },
    { entry: guid(9, 2), result: 'refused', as: null, why: ['/Payload/Total must be number'] },
  ],
  error: null,
  ...some,
})
