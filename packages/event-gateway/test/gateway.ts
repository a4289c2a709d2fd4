import { completeEnvelope, type ReceivedEnvelope } from '@orderflow/envelope'
import { createApp, createLog, readSettings } from '@orderflow/service-kit'
import { type Answer, FakeSidecar, send, withServer } from '@orderflow/service-kit/testing'
import type { Outcome } from '../src/judge.ts'
import { service } from '../src/service.ts'

const tokens = { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }
const json = { 'content-type': 'application/json' }
export const lines = { 'content-type': 'application/x-ndjson' }

export interface ServedOutcome {
  title?: string
  detail?: string
  items: Outcome[]
}

export const ids = () => ({ PaymentId: crypto.randomUUID(), OrderId: crypto.randomUUID() })

export function derivedIds(text: string, key: string) {
  const { Id, CorrelationId, TraceId } = completeEnvelope({} as ReceivedEnvelope, {
    value: Buffer.from(text),
    key: Buffer.from(key),
  })
  return { Id, CorrelationId, TraceId }
}

/** Processes of event-gateway with a sidecar in memory. */
export function gateway() {
  const tested = { sidecar: new FakeSidecar() }
  beforeEach(() => {
    tested.sidecar = new FakeSidecar()
  })

  const appWith = (env: Record<string, string> = {}) =>
    createApp(service, {
      settings: readSettings(service, { ...tokens, ...env }),
      log: createLog('event-gateway', 'silent'),
      sidecar: tested.sidecar,
      now: () => new Date(),
      newId: () => crypto.randomUUID(),
    })
  const request = <T = ServedOutcome>(
    path: string,
    body: string | object,
    headers: Record<string, string> = {},
    app = appWith(),
  ) =>
    withServer(app.web, (url) =>
      send<T>(url + path, {
        method: 'POST',
        headers: { ...json, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    )
  const publish = (...args: Parameters<typeof request> extends [string, ...infer Rest] ? Rest : never) =>
    request('/v1/events/orderevents', ...args)
  const published = () => tested.sidecar.published.map(({ value }) => Buffer.from(value).toString())
  const outcomesOf = ({ body }: Answer<ServedOutcome>) =>
    body.items.map(({ outcome, code }) => [outcome, code].filter(Boolean).join(' '))
  return Object.assign(tested, { appWith, request, publish, published, outcomesOf })
}
