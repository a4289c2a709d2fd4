import type { Audit, HealthView, MissingReactions, Publishers, Schemas, SchemaUse } from '../../../src/api/index.ts'
import { completenessOf, guid, isoAt, rowOf } from './sample.ts'

export const audit = (): Audit => ({
  items: [
    {
      at: isoAt(0),
      by: 'ada',
      what: 'PersonalDataViewed',
      position: { topic: 'orderevents', partition: 1, offset: '1204' },
      reason: 'the customer asked by telephone',
      as: null,
      edited: null,
    },
    {
      at: isoAt(-60_000),
      by: 'anybody on this machine',
      what: 'DeadLetterReplayed',
      position: { topic: 'orderevents', partition: 1, offset: '1190' },
      reason: null,
      as: { topic: 'orderevents', partition: 1, offset: '1300' },
      edited: true,
    },
    {
      at: isoAt(-120_000),
      by: 'grace',
      what: 'DeadlineFired',
      ...{ position: null, reason: null, as: null, edited: null },
      deadline: { service: 'order-service', entity: 'order', id: guid(5, 1), deadline: 'PaymentDue', due: isoAt(0) },
    },
  ],
  complete: completenessOf(),
})

export const missing = (): MissingReactions => ({
  items: [
    {
      cause: rowOf(0),
      waiting: 4210,
      expected: ['PaymentApproved', 'PaymentRejected'],
      by: 'payment-service',
      likely: { why: 'lag', text: 'payment-service is 1,204 events behind in orderevents/2', entry: null },
    },
    {
      cause: rowOf(2),
      waiting: 62,
      expected: ['PaymentApproved', 'PaymentRejected'],
      by: 'payment-service',
      likely: { why: 'dead-letter', text: 'payment-service set it aside: invalid-payload', entry: guid(9, 4) },
    },
  ],
  total: 2,
  isAtLeast: false,
  rules: [
    { cause: 'OrderCreated', effects: ['PaymentApproved', 'PaymentRejected'], by: 'payment-service', within: 30 },
  ],
  complete: completenessOf(),
})

export const publishers = (): Publishers => ({
  items: [
    {
      appId: guid(3, 0),
      appName: 'order-service',
      trust: 'service',
      events: 29_800,
      full: 29_800,
      reduced: 0,
      invalid: 0,
      byValidity: [{ validity: 'valid', count: 29_800 }],
      types: [
        { type: 'OrderCreated@1', topic: 'orderevents', count: 28_760 },
        { type: 'OrderCancelled@1', topic: 'orderevents', count: 1_040 },
      ],
      firstSeen: isoAt(-86_400_000),
      lastSeen: isoAt(0),
    },
    {
      appId: guid(3, 4),
      appName: 'shop with a name that is a good deal longer than any column',
      trust: 'unlisted',
      events: 59,
      full: 2,
      reduced: 57,
      invalid: 59,
      byValidity: [{ validity: 'invalid-payload', count: 59 }],
      types: [{ type: 'OrderCreated@1', topic: 'orderevents', count: 59 }],
      firstSeen: isoAt(-3_600_000),
      lastSeen: isoAt(-1000),
    },
  ],
  complete: completenessOf(),
})

const orderCreated: SchemaUse = {
  type: 'OrderCreated@1',
  name: 'OrderCreated',
  version: 1,
  isNewest: false,
  events: 30_119,
  lastSeen: isoAt(0),
  publishers: [
    { appId: guid(3, 2), appName: 'legacy-shop', count: 1300 },
    { appId: guid(3, 0), appName: 'order-service', count: 28_760 },
  ],
  producedBy: ['order-service'],
  consumedBy: ['payment-service', 'order-service'],
  topics: ['orderevents'],
  personal: ['/Payload/CustomerName', '/Payload/CustomerTaxId'],
  schema: {
    type: 'object',
    required: ['OrderId', 'Total'],
    properties: { OrderId: { type: 'string', format: 'uuid' }, Total: { type: 'number' } },
  },
  compatibility: null,
}
export const schemas = (): Schemas => ({
  items: [
    orderCreated,
    {
      ...orderCreated,
      type: 'OrderCreated@2',
      version: 2,
      isNewest: true,
      events: 0,
      lastSeen: null,
      publishers: [],
      compatibility: {
        isCompatible: false,
        with: 'OrderCreated@1',
        changes: [
          { pointer: '/properties/Currency', what: 'is new, and required', breaks: true },
          { pointer: '/properties/Note', what: 'is new', breaks: false },
        ],
      },
    },
    {
      ...orderCreated,
      type: 'PaymentApproved@1',
      name: 'PaymentApproved',
      isNewest: true,
      personal: [],
      producedBy: ['payment-service'],
      consumedBy: ['order-service'],
      topics: ['paymentevents'],
    },
  ],
  complete: completenessOf(),
})

export const health = (): HealthView => ({
  at: isoAt(0),
  settings: [],
  kafka: { isUp: true, brokers: [{ id: 1, address: '127.0.0.1:9092', isController: true }], error: null },
  services: [
    {
      name: 'order-service',
      state: 'ready',
      reason: null,
      sidecar: 'up',
      url: 'http://localhost:5000',
      warnings: [],
      redelivered: [],
    },
    {
      name: 'payment-service',
      state: 'not-ready',
      reason: 'orderevents is not consumed',
      sidecar: 'down',
      url: 'http://localhost:5003',
      warnings: [],
      redelivered: [{ topic: 'orderevents', partition: 2, offset: '10796', deliveries: 34 }],
    },
  ],
  groups: [0, 1, 2].flatMap((partition) => [
    {
      group: 'order-service',
      topic: 'orderevents',
      partition,
      position: '12000',
      end: '12000',
      lag: 0,
      isAtMost: false,
    },
    {
      group: 'payment-service',
      topic: 'orderevents',
      partition,
      position: '10796',
      end: '12000',
      lag: 1204,
      isAtMost: true,
    },
    {
      group: 'order-service',
      topic: 'paymentevents',
      partition,
      position: '6000',
      end: '6003',
      lag: 3,
      isAtMost: false,
    },
  ]),
  topics: [
    {
      topic: 'orderevents',
      partitions: 3,
      oldestOffset: ['0', '0', '0'],
      endOffset: ['12000', '12000', '12000'],
      perSecond: 41.2,
      isDead: false,
    },
    { topic: 'orderevents.dead', partitions: 1, oldestOffset: ['0'], endOffset: ['45'], perSecond: 0, isDead: true },
    {
      topic: 'paymentevents',
      partitions: 3,
      oldestOffset: ['0', '0', '0'],
      endOffset: ['6003', '6003', '6003'],
      perSecond: 20.4,
      isDead: false,
    },
  ],
  latency: [{ reaction: 'OrderCreated → PaymentApproved', p50: 18, p95: 44, count: 2460 }],
  index: {
    events: 48_210,
    segments: 1,
    bytesOnDisk: 14_200_000,
    memoryBytes: 120_000_000,
    perSecond: 61.6,
    liveRowsDropped: 0,
    error: null,
  },
  complete: completenessOf(),
})
