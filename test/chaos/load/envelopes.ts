import { randomUUID } from 'node:crypto'

const app = { AppId: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b', AppName: 'older-application' }

const ids = (form: 'full' | 'reduced') =>
  form === 'full' ? { Id: randomUUID(), CorrelationId: randomUUID(), TraceId: randomUUID() } : {}

/** An order as an application outside publishes it: with every field, or with the six required ones. */
export function orderCreated(order: { id: string; name: string; total: number; form: 'full' | 'reduced' }) {
  const Payload = { OrderId: order.id, CustomerName: order.name, CustomerTaxId: 'US-1', Total: order.total }
  const CreationDate = new Date().toISOString()
  return { ...app, ...ids(order.form), Version: 1, Name: 'OrderCreated', CreationDate, Payload }
}

export function orderCancelled({ id, form }: { id: string; form: 'full' | 'reduced' }) {
  const CreationDate = new Date().toISOString()
  return { ...app, ...ids(form), Version: 1, Name: 'OrderCancelled', CreationDate, Payload: { OrderId: id } }
}

/** An event that is in order, and that nobody here handles. */
export function unheardOf(): object {
  const CreationDate = new Date().toISOString()
  return { ...app, Version: 1, Name: 'OrderShipped', CreationDate, Payload: { OrderId: randomUUID() } }
}
