/**
 * The names by which this suite knows the system. Tests and their support name nothing of it themselves and import nothing of it, so a
 * restructuring changes this file at most.
 */

const port = (name: string, usual: number) => Number(process.env[name] ?? usual + Number(process.env.PORT_OFFSET ?? 0))
const at = (name: string, usual: number) => `http://localhost:${port(name, usual)}`

/** Where the stack of `make up` listens. Variables are those of .env in containers; PORT_OFFSET moves the ports of processes. */
export const urls = {
  orders: at('ORDER_HTTP_PORT', 5000),
  payments: at('PAYMENT_HTTP_PORT', 5003),
  gateway: at('EVENT_GATEWAY_HTTP_PORT', 5020),
  monitor: at('EVENT_MONITOR_HTTP_PORT', 5010),
}

export const paths = {
  orders: '/v1/orders',
  order: (id: string) => `/v1/orders/${id}`,
  cancel: (id: string) => `/v1/orders/${id}/cancel`,
  paymentsOf: (orderId: string) => `/v1/payments?orderId=${orderId}`,
  publish: (topic: string) => `/v1/events/${topic}`,
  deadLetters: '/v1/dead-letters',
  health: '/v1/health',
  ready: '/readyz',
}

export const topic = 'orderevents'
export const services = { orders: 'order-service', payments: 'payment-service' }
/** What is killed: processes, or containers of the same names. */
export const parts = ['order-service', 'payment-service', 'order-sidecar', 'payment-sidecar', 'kafka']

/** Targets of make, with their variables. */
export const targets = {
  up: ['up'],
  status: ['status'],
  publisher: (name: string) => ['publisher', `NAME=${name}`],
  removePublisher: (name: string) => ['publisher', `NAME=${name}`, 'REMOVE=1'],
  deadLetters: ['dead-letters'],
  deadLettersOf: (group: string) => ['dead-letters', `LIST=${group}`],
  showDeadLetter: (id: string) => ['dead-letters', `SHOW=${id}`],
  replay: (id: string, file: string) => ['dead-letters', `RESEND=${id}`, `FILE=${file}`],
  rebuild: (service: string) => ['rebuild', `SERVICE=${service}`],
  restart: (service: string) => ['restart', `SERVICE=${service}`],
}

export const reasons = {
  notJson: 'not-json',
  envelope: 'not-an-envelope',
  payload: 'invalid-payload',
  version: 'unknown-version',
  conflict: 'conflicting-order',
}
export const status = { paid: 'Paid', rejected: 'PaymentRejected', refunded: 'Refunded', refundedPayment: 'Refunded' }
/** The largest amount that the simulated payment approves. */
export const largestApproved = 10_000

/** How `make dead-letters LIST=…` begins the line of a dead letter, and how a replay is reported. */
export const printed = {
  deadLetterAt: (position: string) => new RegExp(`^([0-9a-f]{8}) .* ${position} `, 'm'),
  replayed: /resent as \S+/,
  rebuilt: /^(\S+): (\d+) read: (\d+) applied, (\d+) known already, (\d+) of no concern$/gm,
}
