import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { urlOf } from '../kafka/addresses.ts'
import { type SeenEvent, watchEvents } from '../kafka/event-watch.ts'
import { StackError } from '../lib/error.ts'
import { poll } from '../lib/poll.ts'
import { paint, print, timed } from '../lib/terminal.ts'
import { requireRunning } from './addresses.ts'
import { stringifyMasked } from './mask.ts'

interface Order {
  id: string
  status: string
  correlationId: string
}

const timeoutMs = 15_000
const newOrder = { customerName: 'Ada Lovelace', customerTaxId: 'DEMO-123', total: 42.5 }

/** `make demo`: places an order and shows its events and its status as they come, until it is paid. */
export async function demo(): Promise<void> {
  const addresses = await requireRunning()
  const [orderUrl, paymentUrl] = [urlOf(addresses, 'order-service'), urlOf(addresses, 'payment-service')]
  let order: Order | undefined
  const early: SeenEvent[] = []
  let show = (event: SeenEvent) => void early.push(event)
  const stopWatching = await watchEvents(addresses.kafka, [orderEvents, paymentEvents], (event) => show(event))
  try {
    const tell = timed()
    tell(`POST ${orderUrl}/v1/orders ${stringifyMasked(newOrder)}`)
    order = await call<Order>(`${orderUrl}/v1/orders`, newOrder)
    tell(`order ${order.id} is ${paint('bold', order.status)}`)
    const { id, correlationId } = order
    const names = new Set<string>()
    show = (event) => {
      const { Name = '', AppName, CorrelationId, Payload } = event.envelope
      if (CorrelationId !== correlationId && Payload?.OrderId !== id) return
      names.add(Name)
      const place = `${event.topic}, partition ${event.partition}, offset ${event.offset}`
      tell(`event ${paint('cyan', Name)} from ${AppName} on ${place}`)
      print(`         ${paint('dim', stringifyMasked(Payload))}`)
    }
    early.forEach(show)
    await untilPaid(`${orderUrl}/v1/orders/${id}`, order, tell, names)
    const payments = await call<{ items: unknown[] }>(`${paymentUrl}/v1/payments?orderId=${id}`)
    tell(`order    ${stringifyMasked(await call<Order>(`${orderUrl}/v1/orders/${id}`))}`)
    for (const payment of payments.items) tell(`payment  ${stringifyMasked(payment)}`)
    tell(paint('green', 'the order is paid'))
  } finally {
    await stopWatching()
  }
}

/** Polls the order until it is paid and both of its events were seen. */
async function untilPaid(
  url: string,
  { id, status }: Order,
  tell: (line: string) => void,
  names: Set<string>,
): Promise<void> {
  let last = status
  const isPaid = async () => {
    if (last === 'Paid' && names.has('OrderCreated') && names.has('PaymentApproved')) return true
    const { status: now } = await call<Order>(url)
    if (now !== last) tell(`order ${id} is ${paint('bold', now)}`)
    last = now
    return false
  }
  if (await poll(isPaid, { timeoutMs })) return
  const seen = [...names].join(', ') || 'no event'
  throw new StackError('demo-failed', `after ${timeoutMs / 1000} s the order is ${last} and there was ${seen}`, {
    nextStep: 'make status, make logs',
  })
}

async function call<Body>(url: string, body?: object): Promise<Body> {
  const request = body
    ? { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    : {}
  const response = await fetch(url, { ...request, signal: AbortSignal.timeout(timeoutMs) }).catch((cause: Error) => {
    throw new StackError('demo-failed', `${url}: ${cause.message}`, { nextStep: 'make status, make logs', cause })
  })
  const text = await response.text()
  if (response.ok) return JSON.parse(text) as Body
  throw new StackError('demo-failed', `${url} answered ${response.status}: ${text}`, {
    nextStep: 'make status, make logs',
  })
}
