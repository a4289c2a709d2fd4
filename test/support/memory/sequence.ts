import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { orderEvents } from '@orderflow/envelope-schema'
import { createConsumers, createDocuments, createLog, SidecarError } from '@orderflow/service-kit'
import { createMetrics, type Sidecar } from '@orderflow/service-kit/operations'
import fc from 'fast-check'
import { guid, trust } from './world.ts'

/** The result of an attempt. It fails before or after its change, because of an outage or a bug. */
type Attempt = 'success' | 'outage' | 'bug' | 'outage-after' | 'bug-after'

const anyAttempt = fc.constantFrom<Attempt>('success', 'outage', 'bug', 'outage-after', 'bug-after')

/** Generates records of four keys and without a key, whose handlers wait before their change and fail, in their first attempts. */
export const anyBacklog = fc.record({
  records: fc.array(
    fc.record({
      key: fc.constantFrom('a', 'a', 'b', 'c', '', undefined),
      waits: fc.array(fc.nat(3), { maxLength: 3 }),
      attempts: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(anyAttempt, { maxLength: 3 })),
    }),
    // Fewer records with bugs than those that stop a topic.
    { minLength: 2, maxLength: 18 },
  ),
  /** The number of records in each delivery and in each part. */
  sizes: fc.record({ delivery: fc.integer({ min: 2, max: 12 }), part: fc.integer({ min: 1, max: 12 }) }),
  /** True for each delivery that is repeated while it is still handled, as after a restart of the sidecar. */
  repeated: fc.array(fc.boolean(), { maxLength: 6 }),
})

export type Backlog = typeof anyBacklog extends fc.Arbitrary<infer T> ? T : never

export interface Outcome {
  /** The numbers of the records in the order of their effects, by key. Records without a key have the key `none`. */
  effects: Record<string, number[]>
  deadLetters: number[]
}

/**
 * Delivers a backlog with a real consumer, as the sidecar does: it repeats the records whose status is RETRY, and then delivers the next records. Each
 * handler appends its record to the document of the key.
 * @param prefix of the documents' keys
 */
export async function handleBacklog(
  sidecar: Sidecar,
  { records, sizes, repeated }: Backlog,
  prefix = '',
): Promise<Outcome> {
  const documents = createDocuments(sidecar, () => new Date(), true)('')
  const left = records.map(({ waits, attempts }) => ({ waits: [...waits], attempts: [...attempts] }))
  const deadLetters: number[] = []
  const nameOf = (key: string | undefined) => `${prefix}${key ?? 'none'}`

  async function handle(index: number): Promise<boolean> {
    const key = records[index]?.key
    const attempt = left[index]?.attempts.shift() ?? 'success'
    const turns = 5 * (left[index]?.waits.shift() ?? 0)
    for (let turn = 0; turn < turns; turn += 1) await nextTurn()
    fail(attempt === 'outage', attempt === 'bug')
    const changed = await documents.change({
      key: nameOf(key),
      bytes: 1_000,
      decide(view) {
        const numbers = view.get<number[]>(nameOf(key)) ?? []
        if (numbers.includes(index)) return false
        view.write([...numbers, index])
        return true
      },
    })
    fail(attempt === 'outage-after', attempt === 'bug-after')
    return changed
  }

  const consumers = createConsumers(
    { [orderEvents]: { OrderCreated: ({ Payload }) => handle(Payload.Total) } },
    {
      app: 'a-service',
      publish: async ({ headers }) => void deadLetters.push(Number(headers['deadletter-offset'])),
      refusals: new Set(),
      trust,
      appendTimes: async () => new Map(),
      log: createLog('a-service', 'silent'),
      metrics: createMetrics(),
      now: () => new Date('2026-11-21T10:00:00Z'),
    },
  )
  const deliver = async (entries: Entry[]) =>
    (await consumers[orderEvents]?.deliver(cut(entries, sizes.part)))?.map(({ status }) => status) ?? []

  const again = [...repeated]
  const entries = records.map(({ key }, index) => entryOf(index, key))
  for (let open of cut(entries, sizes.delivery)) {
    for (let delivery = 0; open.length > 0; delivery += 1) {
      if (delivery > 100) throw new Error(`records are delivered for ever: ${open.map(({ entryId }) => entryId)}`)
      const ignored = again.shift() ? deliver(open) : undefined
      await nextTurn()
      const statuses = await deliver(open)
      await ignored
      open = open.filter((_, index) => statuses[index] === 'RETRY')
    }
  }
  const keys = [...new Set(records.map(({ key }) => key))]
  const stored = await documents.read(keys.map(nameOf))
  const effects = keys.map((key) => [key ?? 'none', (stored.get(nameOf(key))?.value ?? []) as number[]])
  return { effects: Object.fromEntries(effects), deadLetters }
}

/** Throws an error if a record was lost, took effect twice, or took effect before an earlier record of its key. */
export function requireSequence({ records }: Backlog, { effects, deadLetters }: Outcome): void {
  for (const key of new Set(records.map((record) => record.key))) {
    const own = records.flatMap((record, index) => (record.key === key ? [index] : []))
    const numbers = effects[key ?? 'none'] ?? []
    const expected = own.filter((index) => numbers.includes(index) || !deadLetters.includes(index))
    const inOrder = key === undefined ? numbers.toSorted((one, other) => one - other) : numbers
    if (!isDeepStrictEqual(inOrder, expected)) throw new Error(`key ${key}: expected ${expected}, got ${numbers}`)
  }
}

type Entry = ReturnType<typeof entryOf>

function entryOf(index: number, key: string | undefined) {
  const envelope = {
    AppId: guid('app'),
    AppName: 'older-application',
    Version: 1,
    Name: 'OrderCreated',
    CreationDate: '2026-11-21T10:00:00Z',
    Payload: { OrderId: guid(`order ${index}`), CustomerName: 'Ada', CustomerTaxId: 'T', Total: index },
  }
  return {
    entryId: String(index),
    value: Buffer.from(JSON.stringify(envelope)),
    metadata: { __partition: '0', __offset: String(index), ...(key !== undefined && { __key: key }) },
  }
}

function cut<T>(all: T[], size: number): T[][] {
  return all.flatMap((_, index) => (index % size === 0 ? [all.slice(index, index + size)] : []))
}

function fail(isOutage: boolean, isBug: boolean): void {
  if (isOutage) throw new SidecarError('call', new Error('connection lost'))
  if (isBug) throw new TypeError('a bug')
}
