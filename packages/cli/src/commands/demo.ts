import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { urlOf, watchUrl } from '../kafka/addresses.ts'
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

/**
 * `make demo`: places an order and shows its events and its status as they come, until it is paid. Where services are closed,
 * `API_KEY` is whose order it is.
 */
export async function demo({ API_KEY: key }: NodeJS.ProcessEnv): Promise<void> {
  const call = callAs(key)
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
    const statusOf = async () => (await call<Order>(`${orderUrl}/v1/orders/${id}`)).status
    await untilPaid(statusOf, order, tell, names)
    const payments = await call<{ items: unknown[] }>(`${paymentUrl}/v1/payments?orderId=${id}`)
    tell(`order    ${stringifyMasked(await call<Order>(`${orderUrl}/v1/orders/${id}`))}`)
    for (const payment of payments.items) tell(`payment  ${stringifyMasked(payment)}`)
    tell(paint('green', 'the order is paid'))
    print(`see it all: ${watchUrl(addresses)}/c/${correlationId}`)
  } finally {
    await stopWatching()
  }
}

/** Polls the order until it is paid and both of its events were seen. */
async function untilPaid(
  statusOf: () => Promise<string>,
  { id, status }: Order,
  tell: (line: string) => void,
  names: Set<string>,
): Promise<void> {
  let last = status
  const isPaid = async () => {
    if (last === 'Paid' && names.has('OrderCreated') && names.has('PaymentApproved')) return true
    const now = await statusOf()
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

/** Calls services with a key, if there is one. */
function callAs(key: string | undefined) {
  const authorization = key ? { authorization: `Bearer ${key}` } : {}
  return <Body>(url: string, body?: object): Promise<Body> =>
    send(
      url,
      body
        ? {
            method: 'POST',
            headers: { ...authorization, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          }
        : { headers: authorization },
    )
}

async function send<Body>(url: string, request: RequestInit): Promise<Body> {
  const response = await fetch(url, { ...request, signal: AbortSignal.timeout(timeoutMs) }).catch((cause: Error) => {
    throw new StackError('demo-failed', `${url}: ${cause.message}`, { nextStep: 'make status, make logs', cause })
  })
  const text = await response.text()
  if (response.ok) return JSON.parse(text) as Body
  const isDenied = response.status === 401 || response.status === 403
  throw new StackError('demo-failed', `${url} answered ${response.status}: ${text}`, {
    nextStep: isDenied
      ? './orderflow api-key create demo --scopes "orders:read orders:write payments:read", and make demo API_KEY=...'
      : 'make status, make logs',
  })
}
