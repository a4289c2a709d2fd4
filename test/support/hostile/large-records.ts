import { deterministicId, orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { publisherOf } from '@orderflow/service-kit/testing'
import type { HandledName, HostileRecord } from './hostile.ts'
import { regularPayload } from './hostile.ts'
import { largeValue, type Shape, shapes, variantsOf } from './shapes.ts'

/** The reasons for which a receiver rejects a valid envelope. */
export const refusals = ['none', 'conflict', 'unlisted', 'other-name', 'version', 'impersonation'] as const
export type Refusal = (typeof refusals)[number]

/** A valid envelope of 1 to 256 KiB, with its expected result in each consuming service. */
export interface LargeRecord extends HostileRecord {
  value: Buffer
  shape: Shape
  refusal: Refusal
  title: string
  /** The reason of the envelope’s dead letter, or undefined if the envelope must become a fact. */
  reason: string | undefined
  first?: HostileRecord
}

/** Kafka’s limit of 262,144 bytes also includes the key and headers (packages/service-kit/src/stream/publishing/topic-settings.ts). */
const maxValueBytes = 261_900
const minValueBytes = 1_024

const listed = { AppId: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b', AppName: 'older-application' }
export const stranger = { AppId: '0d9f1c4e-58a5-4e37-8d1c-6f3f5b1a7c21', AppName: 'unknown-application' }

interface Claim {
  AppId: string
  AppName: string
}

const serviceOf = (topic: string): Claim => {
  const { id: AppId, name: AppName } = publisherOf(names[topic]?.[0] ?? topic)
  return { AppId, AppName }
}

/** The ways in which a record imitates the service that publishes to its topic. */
const impersonations: ((topic: string) => Claim & { isSigned: boolean })[] = [
  (topic) => ({ ...stranger, AppName: serviceOf(topic).AppName, isSigned: false }),
  (topic) => ({ ...serviceOf(topic), AppName: stranger.AppName, isSigned: true }),
  (topic) => ({ ...serviceOf(topic), isSigned: false }),
]

const reasons: Record<Refusal, string | undefined> = {
  none: undefined,
  conflict: 'conflicting-order',
  unlisted: 'untrusted',
  'other-name': 'untrusted',
  version: 'unknown-version',
  impersonation: 'untrusted',
}

/** Events by topic. Only an OrderCreated can contradict another event. */
const names: Record<string, readonly HandledName[]> = {
  [orderEvents]: ['OrderCreated', 'OrderCancelled'],
  [paymentEvents]: ['PaymentApproved', 'PaymentRejected', 'PaymentRefunded'],
}

const places = ['Payload', 'Payload members', 'Headers', 'envelope'] as const

export interface Combination {
  topic: string
  shape: Shape
  refusal: Refusal
}

export const combinations: readonly Combination[] = Object.keys(names).flatMap((topic) =>
  shapes.flatMap((shape) =>
    refusals
      .filter((refusal) => refusal !== 'conflict' || topic === orderEvents)
      .map((refusal) => ({ topic, shape, refusal })),
  ),
)

/**
 * Returns records with the combination’s variants in turn. The first record of each variant has the largest size, the second has 1 KiB, and
 * all others have sizes between these.
 * @param seed changes the ids of the orders
 */
export function largeRecords(combination: Combination, count: number, seed: number): LargeRecord[] {
  const variants = variantsOf[combination.shape]
  return Array.from({ length: count }, (_, index) => {
    const round = Math.floor(index / variants.length)
    const variant = variants[index % variants.length] as string
    const place = places[(index + round) % places.length] as (typeof places)[number]
    return largeRecord(combination, { variant, place, bytes: sizeOf(round), index, seed })
  })
}

export function largestRecords(combination: Combination, seed: number, bytes = maxValueBytes): LargeRecord[] {
  return variantsOf[combination.shape].map((variant, index) => {
    const place = places[index % places.length] as (typeof places)[number]
    return largeRecord(combination, { variant, place, bytes, index, seed })
  })
}

/** Returns the size for a round. The golden ratio spreads the sizes evenly for any number of rounds. */
function sizeOf(round: number): number {
  const share = round === 0 ? 1 : ((round - 1) * 0.618_034) % 1
  return Math.floor(minValueBytes * (maxValueBytes / minValueBytes) ** share)
}

interface Making {
  variant: string
  place: (typeof places)[number]
  bytes: number
  index: number
  seed: number
}

function largeRecord({ topic, shape, refusal }: Combination, making: Making): LargeRecord {
  const { variant, place, bytes, index, seed } = making
  const orderId = deterministicId('large', topic, shape, refusal, String(index), String(seed))
  const known = names[topic] as readonly HandledName[]
  const name = refusal === 'conflict' ? 'OrderCreated' : (known[index % known.length] as HandledName)
  const { isSigned, ...claim } = claimOf(topic, refusal, index)
  const envelope = (text: (size: number) => string) => text(bytes - Buffer.byteLength(text(0)) - 8)
  const payload = regularPayload(name, orderId)
  if (refusal === 'conflict') payload.Total = '2'
  const whole = (size: number): string => {
    const large = size > 0 ? largeValue(shape, variant, size) : '0'
    const areMembers = place === 'Payload members' && large.startsWith('{')
    const added = areMembers ? large.slice(1, -1) : `"x":${large}`
    const fields: Record<string, string> = {
      AppId: JSON.stringify(claim.AppId),
      AppName: JSON.stringify(claim.AppName),
      Version: refusal === 'version' ? '99' : '1',
      Name: JSON.stringify(name),
      CreationDate: '"2026-11-21T09:30:00+01:00"',
      ...(place === 'Headers' && { Headers: `{${added}}` }),
      // The additional member must not be the last with its name, because the last one is used.
      Payload: `{${[...(place.startsWith('Payload') ? [added] : []), membersOf(payload)].join(',')}}`,
    }
    return `{${[...(place === 'envelope' ? [added] : []), membersOf(fields)].join(',')}}`
  }
  const value = Buffer.from(envelope(whole))
  if (value.length > maxValueBytes) throw new Error(`${variant} has ${value.length} bytes`)
  const common = { topic, orderId, key: Buffer.from(orderId), headers: [] }
  return {
    ...common,
    value,
    isSigned,
    shape,
    refusal,
    title: `${topic}, ${name}, ${refusal}, ${shape}: ${variant} in ${place}, ${value.length} bytes`,
    reason: reasons[refusal],
    ...(refusal === 'conflict' && { first: { ...common, value: firstOf(orderId), isSigned: false } }),
  }
}

const membersOf = (fields: Record<string, string>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
    .join(',')

/** Returns the claimed publisher, and whether the record is signed. */
function claimOf(topic: string, refusal: Refusal, index: number): Claim & { isSigned: boolean } {
  switch (refusal) {
    case 'unlisted':
      return { ...stranger, isSigned: false }
    case 'other-name':
      return { ...listed, AppName: 'renamed-application', isSigned: false }
    case 'impersonation':
      return (impersonations[index % impersonations.length] as (typeof impersonations)[number])(topic)
    default:
      return topic === orderEvents ? { ...listed, isSigned: false } : { ...serviceOf(topic), isSigned: true }
  }
}

function firstOf(orderId: string): Buffer {
  const Payload = { OrderId: orderId, CustomerName: 'Mallory', CustomerTaxId: 'T', Total: 1 }
  const date = '2026-11-21T09:00:00+01:00'
  return Buffer.from(JSON.stringify({ ...listed, Version: 1, Name: 'OrderCreated', CreationDate: date, Payload }))
}
