import { randomUUID } from 'node:crypto'

export const legacy = { id: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b', name: 'older-application' }

export function envelope(more: object = {}, payload: object = {}) {
  return {
    AppId: legacy.id,
    AppName: legacy.name,
    Version: 1,
    Name: 'OrderCreated',
    CreationDate: '2026-11-21T09:30:00+01:00',
    Payload: { OrderId: randomUUID(), CustomerName: 'Grace Hopper', CustomerTaxId: 'US-1', Total: 10, ...payload },
    ...more,
  }
}

export function full(more: object = {}) {
  const id = randomUUID()
  return { ...envelope(), Id: randomUUID(), CorrelationId: id, TraceId: id, ...more }
}
