import { randomUUID } from 'node:crypto'
import { poisonOf } from '@orderflow/test-kit'

const app = { AppId: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b', AppName: 'older-application' }

/** Builds an OrderCreated of another application with the six required fields. */
export function reduced(payload: object = {}, changes: object = {}) {
  const OrderId = randomUUID()
  const Payload = { OrderId, CustomerName: 'Grace Hopper', CustomerTaxId: 'US-1', Total: 10, ...payload }
  const CreationDate = '2026-11-21T09:30:00+01:00'
  return { ...app, Version: 1, Name: 'OrderCreated', CreationDate, Payload, ...changes }
}

export const full = (payload: object = {}) => ({
  ...reduced(payload),
  Id: randomUUID(),
  CorrelationId: randomUUID(),
  TraceId: randomUUID(),
  Headers: { Source: 'legacy' },
  TenantID: '',
  TenantUserID: '',
})

/** Invalid records with the name OrderCreated, which both services handle. */
export const poison = poisonOf('OrderCreated@1')
