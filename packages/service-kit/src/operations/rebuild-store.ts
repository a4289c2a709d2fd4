import { isDeepStrictEqual } from 'node:util'
import type { Span } from '@orderflow/kafka-log'
import { indexNameOf } from '../state/deadlines/index-names.ts'
import type { DocumentsOf } from '../state/documents.ts'
import { isListedAt } from '../state/list-page.ts'
import type { Reactions } from '../stream/consuming/event-handler.ts'
import { patiently, type RebuildCounts, type RebuildOptions, rebuildTopic, storeFailure } from './rebuild.ts'
import { listedId, openScratch, type Scratch, type ScratchDocument } from './scratch.ts'
import { OperationError } from './terminal.ts'

interface StoreOptions extends Omit<RebuildOptions, 'range' | 'spans'> {
  /** Creates the handlers by topic, in the order in which the topics are read. They use the given documents. */
  rebuildOn: (documentsOf: DocumentsOf) => Reactions<boolean>
  /** The documents of the service's store. */
  documentsOf: DocumentsOf
  /** True if the service does not separate tenants (`Auth__Mode`). */
  isShared: boolean
  /** Receives the number of documents that were compared with the service's store. */
  onStored: (documents: number) => void
  /** Waits until a running service has published the events of documents that it saved before the call. */
  untilPublished: () => Promise<void>
}

/** The number of documents that are stored at the same time. */
const atOnce = 500

/** The number of attempts for documents that the running service changes at the same time. */
const maxRounds = 10

/**
 * Rebuilds the documents of all events in the log. It first applies the whole log to an empty scratch store. Then it writes each document that the
 * service's store lacks, or has with another content. So the result does not depend on earlier content, and each document is replaced in one step. A
 * rebuild may be killed and repeated, or run while the service runs. Documents of no event in the log stay.
 *
 * A different document may contain an event that the running service has handled meanwhile, or has not published yet. So the rebuild waits, and reads the
 * log up to its new end. It replaces the document only if it is still unchanged.
 * @returns the counts by topic
 * @throws {LogError} if the log is unreadable
 * @throws {OperationError} if the store stays unavailable, or the service changes a document again and again
 */
export async function rebuildStore(options: StoreOptions): Promise<Map<string, RebuildCounts>> {
  const scratch = openScratch(options.isShared)
  try {
    const handlers = options.rebuildOn(scratch.documentsOf)
    const counts = new Map<string, RebuildCounts>()
    const ends = new Map<string, Span[]>()
    async function readOn(): Promise<void> {
      for (const [topic, own] of Object.entries(handlers)) {
        const spans = spansAfter(await options.log.spans(topic), ends.get(topic))
        ends.set(topic, spans)
        const more = await rebuildTopic(topic, scratch.noting(topic, own), { ...options, range: {}, spans })
        counts.set(topic, sumOf(counts.get(topic), more))
      }
    }
    await readOn()
    await storeAll(scratch, options, readOn)
    for (const [topic, own] of counts) {
      // Only some of the documents that these events changed had to be written.
      const applied = scratch.applied(topic)
      counts.set(topic, { ...own, applied, unchanged: own.applied + own.unchanged - applied })
    }
    return counts
  } finally {
    scratch.close()
  }
}

/** Returns the parts of the partitions after the parts that were already read. */
function spansAfter(spans: Span[], read: Span[] = []): Span[] {
  const ends = new Map(read.map(({ partition, end }) => [partition, end]))
  return spans.map((span) => ({ ...span, start: ends.get(span.partition) ?? span.start }))
}

function sumOf(before: RebuildCounts | undefined, more: RebuildCounts): RebuildCounts {
  if (!before) return more
  const sum = (one: Record<string, number>, other: Record<string, number>) => {
    const names = new Set([...Object.keys(one), ...Object.keys(other)])
    return Object.fromEntries(Array.from(names, (name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]))
  }
  return {
    read: before.read + more.read,
    applied: before.applied + more.applied,
    unchanged: before.unchanged + more.unchanged,
    unhandled: before.unhandled + more.unhandled,
    aside: sum(before.aside, more.aside),
    faulty: sum(before.faulty, more.faulty),
  }
}

async function storeAll(scratch: Scratch, options: StoreOptions, readOn: () => Promise<void>): Promise<void> {
  let stored = 0
  for (let round = 1; ; round += 1) {
    const [first] = scratch.open(0, 1)
    if (!first) return
    if (round > maxRounds) throw changing(first)
    if (round > 1) {
      await options.untilPublished()
      await readOn()
    }
    for (let open = scratch.open(0, atOnce); open.length > 0; open = scratch.open(open.at(-1)?.number ?? 0, atOnce)) {
      await storeSome(scratch, open, options).catch((cause: unknown) => {
        throw storeFailure(cause)
      })
      stored += open.length
      options.onStored(stored)
    }
  }
}

function changing({ key }: ScratchDocument): OperationError {
  return new OperationError(`the service changes the document ${key} again and again`, {
    nextStep: 'stop the service, but not its sidecar, and repeat the rebuild: make up REBUILD=1 does it',
  })
}

/** The outcome for a document: the text of the stored document if it differs, or the slot that the stored document had and keeps. */
type Outcome = { result: 'same' | 'written'; kept?: string | undefined } | { result: 'differs'; text: string }

async function storeSome(scratch: Scratch, documents: ScratchDocument[], { documentsOf, onWait }: StoreOptions) {
  const store = (document: ScratchDocument, isRelisted: boolean) =>
    patiently(() => storeOne(documentsOf, document, isRelisted), onWait)
  const note = ({ number }: ScratchDocument, outcome: Outcome) =>
    outcome.result === 'differs'
      ? scratch.differs(number, outcome.text)
      : scratch.settle(number, outcome.result === 'written')
  const outcomes = await Promise.all(documents.map((document) => store(document, false)))
  const listed = documents.flatMap((document, index) => {
    const outcome = outcomes[index] as Outcome
    note(document, outcome)
    const slot = outcome.result === 'differs' ? undefined : outcome.kept
    const id = listedId(JSON.parse(document.value))
    return slot === undefined || id === undefined ? [] : [{ document, slot, id }]
  })
  for (const [tenant, own] of Map.groupBy(listed, ({ document }) => document.tenant)) {
    const isListed = await patiently(() => isListedAt(documentsOf(tenant).read, own), onWait)
    const lost = own.filter((_, index) => !isListed[index])
    await Promise.all(lost.map(async ({ document }) => note(document, await store(document, true))))
  }
}

/**
 * Writes a document if the store lacks it, or has the document that differed in the last round.
 * @param isRelisted true to give the document a new slot in the list, because the list lacks its slot
 */
function storeOne(documentsOf: DocumentsOf, document: ScratchDocument, isRelisted: boolean): Promise<Outcome> {
  const { tenant, key, value, differs } = document
  const wanted: unknown = JSON.parse(value)
  const id = listedId(wanted)
  const documents = documentsOf(tenant)
  return documents.change({
    key,
    bytes: Buffer.byteLength(value),
    arms: true,
    decide(view): Outcome {
      const stored = view.get<unknown>(key)
      const kept = isRelisted ? undefined : slotIn(stored)
      const isSame = stored !== undefined && isDeepStrictEqual(contentOf(stored), contentOf(wanted))
      const hasSlot = (slotIn(stored) === undefined) === (id === undefined)
      if (isSame && hasSlot && !isRelisted) return { result: 'same', kept }
      const text = JSON.stringify(stored)
      if (stored !== undefined && !isSame && text !== differs) return { result: 'differs', text }
      const { document, armed } = withKnown(wanted, stored)
      view.write(id === undefined ? document : { ...(document as object), listed: kept ?? view.list(id) })
      for (const { name, at } of armed) view.arm({ key: documents.fullKey(key), name, at: Date.parse(at) })
      return { result: 'written', kept }
    },
  })
}

function slotIn(document: unknown): string | undefined {
  const { listed } = Object(document) as { listed?: unknown }
  return typeof listed === 'string' ? listed : undefined
}

/** The deadlines and calls of an entity's document, by name. */
interface Waits {
  deadlines?: Readonly<Record<string, { at: string; fired?: true }>>
  calls?: Readonly<Record<string, { target: string; attempt: string; at: string; answered?: true }>>
  unannounced?: { event: { Name?: string } }[]
}

/**
 * Returns a document that keeps what the stored document knows of its deadlines and calls, and the others, which the index lacks. The written document has
 * no events to announce. So a deadline or call whose event is perhaps not announced begins again.
 */
function withKnown(wanted: unknown, stored: unknown): { document: unknown; armed: { name: string; at: string }[] } {
  const { deadlines = {}, calls = {} } = Object(wanted) as Waits
  const known = Object(stored) as Waits
  const isOpen = (event: string) => known.unannounced?.some(({ event: { Name } }) => Name === event) ?? false
  const armed: { name: string; at: string }[] = []
  const keptDeadlines = Object.entries(deadlines).map(([name, one]) => {
    const before = known.deadlines?.[name]
    if (before?.at === one.at && !(before.fired && isOpen('DeadlinePassed'))) return [name, before] as const
    armed.push({ name, at: one.at })
    return [name, one] as const
  })
  const keptCalls = Object.entries(calls).map(([name, one]) => {
    const before = known.calls?.[name]
    const isSame = before?.target === one.target && before.attempt === one.attempt
    if (isSame && !(before.answered && isOpen('CallAnswered'))) return [name, before] as const
    armed.push({ name: indexNameOf(name, one), at: one.at })
    return [name, one] as const
  })
  if (keptDeadlines.length + keptCalls.length === 0) return { document: wanted, armed }
  const document = {
    ...(wanted as object),
    ...(keptDeadlines.length > 0 && { deadlines: Object.fromEntries(keptDeadlines) }),
    ...(keptCalls.length > 0 && { calls: Object.fromEntries(keptCalls) }),
  }
  return { document, armed }
}

/** Returns the part of a document that follows from the log. It leaves out the slot, and the notes about requests and announcements. */
export function contentOf(document: unknown): unknown {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return document
  const { listed: _slot, unannounced: _events, requestHash: _hash, visits: _visits, ...content } = Object(document)
  const { deadlines, calls } = content as Waits
  if (deadlines) content.deadlines = Object.fromEntries(Object.entries(deadlines).map(([name, { at }]) => [name, at]))
  if (calls)
    content.calls = Object.fromEntries(
      Object.entries(calls).map(([name, { target, attempt }]) => [name, { target, attempt }]),
    )
  return content
}
