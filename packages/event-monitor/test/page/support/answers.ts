import {
  type Audit,
  type CheckResult,
  type Completeness,
  type Conversation,
  type ConversationDeadlines,
  type ConversationsOf,
  type DeadLetterDetail,
  type DeadLetterEntry,
  type DeadLetterGroups,
  type Deadlines,
  type DryRunResult,
  type EventDetail,
  type EventRow,
  type Facets,
  type Fixture,
  type HealthView,
  type Job,
  type Me,
  type MissingReactions,
  type Page,
  type Publishers,
  paths,
  type Rates,
  type RecordPositions,
  type Revealed,
  type Schemas,
  type Validated,
} from '../../../src/api/index.ts'
import { conversation } from './conversation-sample.ts'
import { entries, entryDetail, groups, job } from './dead-sample.ts'
import { conversationDeadlines, deadlines } from './deadline-sample.ts'
import { eventDetail } from './event-sample.ts'
import { completenessOf, isoAt, rowOf, start } from './sample.ts'
import { audit, health, missing, publishers, schemas } from './system-sample.ts'

/** The fake monitor's answers. They have the types of the API, so `tsc` reports an answer that no longer matches. */
export interface Answers {
  me: Me
  completeness: Completeness
  events: (query: URLSearchParams) => Page<EventRow>
  facets: Facets
  rates: (query: URLSearchParams) => Rates
  event: EventDetail
  reveal: Revealed
  fixture: Fixture
  id: RecordPositions
  dryRun: DryRunResult
  conversation: Conversation
  deadLetters: DeadLetterGroups
  deadLetterEntries: (query: URLSearchParams) => Page<DeadLetterEntry>
  deadLetterEntry: DeadLetterDetail
  deadLetterCheck: (query: URLSearchParams, body: unknown) => CheckResult
  replays: { items: Job[] }
  replay: Job
  /** The job that POST /v1/replays starts. */
  started: Job
  conversations: ConversationsOf
  conversationDeadlines: ConversationDeadlines
  deadlines: Deadlines
  deadlineFire: { isFired: true }
  audit: Audit
  missing: MissingReactions
  publishers: Publishers
  schemas: Schemas
  validate: Validated
  health: HealthView
}

const newest = 2400

export function sampleAnswers(): Answers {
  const detail = eventDetail()
  return {
    me: {
      scopes: ['events:read', 'events:operate', 'events:reveal', 'deadlines:read', 'deadlines:operate'],
      recordedAs: 'anybody on this machine',
    },
    completeness: completenessOf(),
    events: (query) => {
      const from = Number(query.get('cursor') ?? newest)
      const limit = Number(query.get('limit') ?? 50)
      const items = Array.from({ length: Math.min(limit, from) }, (_, index) => rowOf(from - index))
      const next = from > limit ? String(from - limit) : null
      return { items, next, complete: { ...completenessOf(), shown: items.length, total: newest, isAtLeast: false } }
    },
    facets: {
      topic: [
        { value: 'orderevents', count: 31_204 },
        { value: 'paymentevents', count: 16_961 },
        { value: 'orderevents.dead', count: 45 },
      ],
      name: [{ value: 'OrderCreated', count: 30_000 }],
      type: [
        { value: 'OrderCreated@1', count: 30_119 },
        { value: 'PaymentApproved@1', count: 15_822 },
        { value: 'PaymentRejected@1', count: 1_139 },
        { value: 'OrderCancelled@1', count: 1_040 },
        { value: 'StockCounted@1', count: 90 },
      ],
      publisher: [
        { value: 'order-service', count: 29_800 },
        { value: 'payment-service', count: 16_961 },
        { value: 'legacy-shop', count: 1_300 },
        { value: 'warehouse of the north', count: 90 },
        { value: 'shop', count: 59 },
      ],
      validity: [
        { value: 'valid', count: 48_016 },
        { value: 'foreign', count: 90 },
        { value: 'invalid-payload', count: 59 },
        { value: 'dead-letter', count: 45 },
      ],
      why: [
        { value: 'invalid-payload /Payload/Total', count: 59 },
        { value: 'invalid-payload', count: 45 },
      ],
      total: 48_210,
      isAtLeast: false,
      complete: completenessOf(),
    },
    rates: (query) => {
      const seconds = Number(query.get('seconds') ?? 600)
      const step = seconds / 120
      const end = query.get('to') ? Date.parse(query.get('to') ?? '') : Date.now()
      const counts = Array.from({ length: 120 }, (_, index) =>
        Math.round(step * (40 + 25 * Math.sin(index / 9) + (index % 7) * 3)),
      )
      const invalid = counts.map((_, index) => (index > 70 && index < 84 ? Math.round(step * 9) : 0))
      return { from: new Date(end - seconds * 1000).toISOString(), step, counts, invalid, complete: completenessOf() }
    },
    event: detail,
    reveal: {
      document: { Payload: { CustomerName: 'Ada Lovelace', CustomerTaxId: 'GB-123456789' } },
      text: '{}',
      key: null,
      headers: [],
    },
    fixture: {
      fileName: 'order-created-with-total-as-text.json',
      folders: ['payment-service/test/fixtures/'],
      content: { description: 'an order', topic: 'orderevents', envelope: { Name: 'OrderCreated' } },
    },
    id: { positions: [detail.row.position, { ...detail.row.position, offset: '99' }], complete: completenessOf() },
    dryRun: {
      services: [
        {
          service: 'order-service',
          result: 'changes',
          changes: [{ key: 'order/7d9f', before: null, after: { status: 'Created', customerName: '***' } }],
          publishes: [],
          conflicts: [],
        },
        {
          service: 'payment-service',
          result: 'dead-letter',
          reason: 'invalid-payload',
          detail: 'does not match OrderCreated@1',
          faults: [{ pointer: '/Payload/Total', message: 'must be number' }],
          conflicts: [],
        },
      ],
    },
    conversation: conversation(),
    deadLetters: groups(),
    deadLetterEntries: () => {
      const items = entries()
      return {
        items,
        next: null,
        complete: { ...completenessOf(), shown: items.length, total: items.length, isAtLeast: false },
      }
    },
    deadLetterEntry: entryDetail(),
    deadLetterCheck: (_, body) => checked((body as { edited?: { text: string } }).edited?.text),
    replays: { items: [job()] },
    replay: job(),
    started: job(),
    conversations: { items: [], complete: completenessOf() },
    conversationDeadlines: conversationDeadlines(),
    deadlines: deadlines(),
    deadlineFire: { isFired: true },
    audit: audit(),
    missing: missing(),
    publishers: publishers(),
    schemas: schemas(),
    validate: {
      isValid: false,
      validity: 'invalid-payload',
      type: 'OrderCreated@1',
      faults: [{ pointer: '/Payload/Total', message: 'must be number', hint: 'write it without quotes' }],
    },
    health: health(),
  }
}

/** Returns the result of checking an edit. The edit is ready if its total has no quotes. */
function checked(text = ''): CheckResult {
  const fault = { pointer: '/Payload/Total', message: 'must be number', hint: 'write it without quotes: 12.5' }
  if (!text.includes('"Total": 12.5')) {
    return { isReady: false, faults: [fault], refusals: ['/Payload/Total must be number'], changes: [], dryRun: null }
  }
  const publishes = [{ topic: 'paymentevents', type: 'PaymentApproved@1' }]
  const changes = [{ key: 'payment/7d9f', before: null, after: { status: 'Approved', amount: 12.5 } }]
  return {
    isReady: true,
    faults: [],
    refusals: [],
    changes: [{ pointer: '/Payload/Total', before: '12.5', after: 12.5 }],
    dryRun: { services: [{ service: 'payment-service', result: 'changes', changes, publishes, conflicts: [] }] },
  }
}

/** Returns the answer for a path. The method matters only for replays. */
export function answerTo(answers: Answers, path: string, query: URLSearchParams, body: unknown): unknown {
  if (path === paths.replays && body !== undefined) return answers.started
  const fixed = Object.entries(paths).find(([, each]) => each === path)?.[0] as keyof Answers | undefined
  const name = fixed ?? dynamic.find(([pattern]) => pattern.test(path))?.[1]
  const answer = name && answers[name]
  return typeof answer === 'function' ? answer(query, body) : answer
}

const dynamic: [RegExp, keyof Answers][] = [
  [/^\/v1\/events\/[^/]+\/\d+\/\d+$/, 'event'],
  [/\/reveal$/, 'reveal'],
  [/\/fixture$/, 'fixture'],
  [/^\/v1\/ids\//, 'id'],
  [/^\/v1\/conversations\/[^/]+\/deadlines$/, 'conversationDeadlines'],
  [/^\/v1\/conversations\//, 'conversation'],
  [/^\/v1\/dead-letters\/entries\/[^/]+$/, 'deadLetterEntry'],
  [/\/check$/, 'deadLetterCheck'],
  [/^\/v1\/replays\//, 'replay'],
]

export { isoAt, start }
