import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { service as orderService } from '@orderflow/order-service/service'
import { service as paymentService } from '@orderflow/payment-service/service'
import { type App, createApp, createLog, readSettings, SidecarError } from '@orderflow/service-kit'
import { createApiKey } from '@orderflow/service-kit/setup'
import { FakeSidecar, send, withServer } from '@orderflow/service-kit/testing'

/** A record of the log. `value` is an envelope as JSON. */
export interface LogRecord {
  topic: string
  key: string
  value: string
}

export const roles = ['order', 'payment'] as const
export type Role = (typeof roles)[number]
const services = { order: orderService, payment: paymentService }
export const consumed = { order: [orderEvents, paymentEvents], payment: [orderEvents] }

/** The tenants of the callers. A caller with the empty name has no tenant. */
export const tenants = ['', 'first', 'second'] as const
type TenantName = (typeof tenants)[number]

export interface Request {
  role: Role
  tenant: TenantName
  method: 'GET' | 'POST'
  path: string
  idempotencyKey?: string
  body?: object
}

/** Both services in memory, which separate tenants, with their stores and one log. Release 0.2.0 can run this file, too. */
export function startBoth() {
  const log: LogRecord[] = []
  const stores = { order: new FakeSidecar(), payment: new FakeSidecar() }
  const keys = Object.fromEntries(
    tenants.map((tenant) => {
      const scopes = ['orders', 'payments'].flatMap((things) => [`${things}:read`, `${things}:write`])
      return [tenant, createApiKey({ name: `a client of ${tenant}`, scopes, tenant }, new Date(0))]
    }),
  )
  const access = {
    ...{ APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr', Auth__Mode: 'closed' },
    Auth__ApiKeys: JSON.stringify(Object.values(keys).map(({ record }) => record)),
  }
  let clock = Date.parse('2026-11-27T10:00:00Z')
  let ids = 0
  const settings = (role: Role) => readSettings(services[role] as typeof orderService, access)
  const now = () => {
    clock += 1_000
    return new Date(clock)
  }
  const newId = () => {
    ids += 1
    return `00000000-0000-4000-8000-${String(ids).padStart(12, '0')}`
  }
  const started = (role: Role): App =>
    createApp(services[role] as typeof orderService, {
      ...{ settings: settings(role), log: createLog(role, 'silent'), sidecar: stores[role], now, newId },
    })
  const apps = { order: started('order'), payment: started('payment') }

  /** Moves what the services published into the log. */
  function take(): void {
    for (const store of Object.values(stores)) {
      for (const { topic, key = '', value } of store.published.splice(0))
        log.push({ topic, key, value: Buffer.from(value).toString() })
    }
  }

  return {
    log,
    parts: (role: Role) => ({
      service: services[role] as typeof orderService,
      settings: settings(role),
      store: stores[role],
    }),
    /** Makes the next publication of a service fail. */
    failPublication(role: Role): void {
      stores[role].failures.publish.push(new SidecarError('call', new Error('connection refused')))
    },
    /** Delivers the records of the log with these indexes. Returns whether the service handled each. */
    async deliver(role: Role, indexes: number[]): Promise<boolean[]> {
      const handled: boolean[] = []
      for (const index of indexes) {
        const { topic, key, value } = log[index] as LogRecord
        const metadata = { __key: key, __partition: '0', __offset: String(index), __timestamp: String(clock) }
        const entries = [{ entryId: '0', event: Buffer.from(value).toString('base64'), metadata }]
        const { body } = await withServer(apps[role].channel, (url) =>
          send<{ statuses: { status: string }[] }>(`${url}/subscriptions/${topic}`, {
            ...{ method: 'POST', body: JSON.stringify({ entries }) },
            headers: { 'dapr-api-token': 'app', 'content-type': 'application/json' },
          }),
        )
        handled.push(body.statuses[0]?.status === 'SUCCESS')
        take()
      }
      return handled
    },
    async request<T>({
      role,
      tenant,
      method,
      path,
      idempotencyKey,
      body,
    }: Request): Promise<{ status: number; body: T }> {
      const answer = await withServer(apps[role].web, (url) =>
        send<T>(url + path, {
          method,
          headers: {
            authorization: `Bearer ${keys[tenant]?.key}`,
            'content-type': 'application/json',
            ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
          },
          ...(body && { body: JSON.stringify(body) }),
        }),
      )
      take()
      return answer
    },
  }
}
