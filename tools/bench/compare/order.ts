import { randomUUID } from 'node:crypto'
import { createEnvelope, type Envelope } from '@orderflow/envelope-schema'
import { type PlaceOrder, placedType } from '@orderflow/order-service/order'
import { bodyReader, contractFields } from '@orderflow/service-kit'

export interface Order extends PlaceOrder {
  id: string
  status: 'Created'
  createdAt: string
  correlationId: string
  traceId: string
}

export const readOrder = bodyReader<PlaceOrder>(contractFields(placedType, 'OrderId'))

export function newOrder(input: PlaceOrder): Order {
  const traceId = randomUUID()
  const createdAt = new Date().toISOString()
  return { id: randomUUID(), ...input, status: 'Created', createdAt, correlationId: traceId, traceId }
}

export function orderCreated(order: Order): Envelope {
  return createEnvelope({
    app: { id: '5d1c5a0e-0a53-4b7e-a4d5-6c55f1c8e001', name: 'naive-orders' },
    type: 'OrderCreated',
    traceId: order.traceId,
    creationDate: new Date(order.createdAt),
    payload: {
      OrderId: order.id,
      CustomerName: order.customerName,
      CustomerTaxId: order.customerTaxId,
      Total: order.total,
    },
  })
}
