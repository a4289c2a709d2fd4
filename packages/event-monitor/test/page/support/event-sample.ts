import type { EventDetail } from '../../../src/api/index.ts'
import { completenessOf, guid, isoAt, rowOf } from './sample.ts'

export function eventDetail(some: Partial<EventDetail> = {}): EventDetail {
  const position = { topic: 'orderevents', partition: 1, offset: '1204' }
  const row = rowOf(4, { position, id: guid(1, 4), correlationId: guid(2, 1), appName: 'shop' })
  return {
    row,
    document: {
      Id: row.id,
      CorrelationId: row.correlationId,
      TraceId: row.traceId,
      AppId: row.appId,
      AppName: 'shop',
      Version: 1,
      Name: 'OrderCreated',
      CreationDate: row.createdAt,
      Payload: {
        OrderId: guid(7, 4),
        CustomerName: '***{/Payload/CustomerName}***',
        CustomerTaxId: '***{/Payload/CustomerTaxId}***',
        Total: '12.5',
      },
    },
    documentNote: null,
    masked: ['/Payload/CustomerName', '/Payload/CustomerTaxId'],
    key: guid(7, 4),
    headers: [{ name: 'traceparent', value: '00-000000020000400080000000000000001-00f067aa0ba902b7-01' }],
    faults: [
      { pointer: '/Payload/Total', message: 'must be number', hint: 'write it without quotes: 12.5' },
      { pointer: '/Payload/Currency', message: 'is not known', hint: 'leave it out' },
    ],
    trust: { publisher: 'unlisted', signature: 'none', refusal: null },
    cause: rowOf(3),
    effects: [rowOf(5), rowOf(6)],
    deadLetters: [rowOf(6)],
    entries: [
      {
        id: guid(9, 4),
        services: [{ app: 'payment-service', id: guid(9, 4), reason: 'invalid-payload', problem: null }],
        reason: 'invalid-payload',
        state: 'open',
        deadLetters: [{ topic: 'orderevents.dead', partition: 0, offset: '4' }],
      },
    ],
    previous: { ...position, offset: '1203' },
    following: { ...position, offset: '1205' },
    traceUrl: 'http://localhost:16686/trace/00000002',
    complete: completenessOf({ newest: isoAt(400) }),
    ...some,
  }
}
