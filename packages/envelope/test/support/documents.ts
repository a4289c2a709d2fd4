import { EnvelopeError } from '../../src/index.ts'

export const app = { id: '0b5c3d6e-8f1a-4b2c-9d3e-4f5a6b7c8d9e', name: 'order-service' }

export const orderId = '5f0c1d7a-2b3c-4d5e-8f90-a1b2c3d4e5f6'

export const orderCreated = {
  OrderId: orderId,
  CustomerName: 'Ada Lovelace',
  CustomerTaxId: 'GB-123456789',
  Total: 42.5,
}

export function reduced(changes: Record<string, unknown> = {}): Record<string, unknown> {
  const [AppId, AppName] = [app.id, 'legacy-shop']
  const CreationDate = '2026-03-14T09:26:53Z'
  return { AppId, AppName, Version: 1, Name: 'OrderCreated', CreationDate, Payload: orderCreated, ...changes }
}

export function bytesOf(document: unknown): Uint8Array {
  return Buffer.from(typeof document === 'string' ? document : JSON.stringify(document))
}

export function errorOf(action: () => unknown): EnvelopeError {
  let result: unknown
  try {
    result = action()
  } catch (error) {
    if (error instanceof EnvelopeError) return error
    throw error
  }
  throw new Error(`expected an EnvelopeError, got ${JSON.stringify(result)}`)
}
