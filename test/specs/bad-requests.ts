import { anOrder } from '../support/api.ts'

export const json = { 'content-type': 'application/json' }
const unknownId = '00000000-0000-4000-8000-000000000000'

export interface BadRequest {
  path: string
  init?: RequestInit
  status: number
  /** What the answer names: pointers of `errors`, in order. */
  pointers?: string[]
  tells: RegExp
}

const postOrder = (body: unknown, headers: Record<string, string> = {}): Pick<BadRequest, 'path' | 'init'> => ({
  path: '/v1/orders',
  init: {
    method: 'POST',
    headers: { ...json, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  },
})

export const badOrders: Record<string, BadRequest> = {
  'an empty body': {
    ...postOrder(''),
    status: 400,
    pointers: ['/customerName', '/customerTaxId', '/total'],
    tells: /missing/,
  },
  'a body that is not JSON': { ...postOrder('{"total": 1,}'), status: 400, tells: /quotes, commas and brackets/ },
  'a body that is a list': { ...postOrder([]), status: 400, pointers: [''], tells: /object/ },
  'a body that is null': { ...postOrder('null'), status: 400, pointers: [''], tells: /object, not null/ },
  'two wrong fields': {
    ...postOrder({ ...anOrder, customerName: '', total: -1 }),
    status: 400,
    pointers: ['/customerName', '/total'],
    tells: /customerName: must not be empty.*total: must be at least 0/,
  },
  'a total as text': {
    ...postOrder({ ...anOrder, total: '42.5' }),
    status: 400,
    pointers: ['/total'],
    tells: /number/,
  },
  'a total beyond a double': {
    ...postOrder('{"customerName":"a","customerTaxId":"b","total":1e400}'),
    status: 400,
    pointers: ['/total'],
    tells: /total/,
  },
  'a tax id of 65 characters': {
    ...postOrder({ ...anOrder, customerTaxId: 'x'.repeat(65) }),
    status: 400,
    pointers: ['/customerTaxId'],
    tells: /at most 64 characters/,
  },
  'a field name in another case': {
    ...postOrder({ ...anOrder, customerTaxId: undefined, CustomerTaxId: 'x' }),
    status: 400,
    pointers: ['/customerTaxId'],
    tells: /rename CustomerTaxId to customerTaxId/,
  },
  'another content type': {
    ...postOrder('total=1', { 'content-type': 'text/plain' }),
    status: 415,
    tells: /application\/json/,
  },
  'a body above 64 KiB': {
    ...postOrder({ ...anOrder, note: 'x'.repeat(70_000) }),
    status: 413,
    tells: /at most 65536 bytes/,
  },
  'an Idempotency-Key with blanks': {
    ...postOrder(anOrder, { 'idempotency-key': 'a b' }),
    status: 400,
    pointers: ['Idempotency-Key'],
    tells: /visible ASCII/,
  },
  'an Idempotency-Key of 256 characters': {
    ...postOrder(anOrder, { 'idempotency-key': 'k'.repeat(256) }),
    status: 400,
    pointers: ['Idempotency-Key'],
    tells: /255/,
  },
  'an id that is no GUID': { path: '/v1/orders/42', status: 400, pointers: ['id'], tells: /GUID/ },
  'an unknown id': { path: `/v1/orders/${unknownId}`, status: 404, tells: /no order/ },
  'a cancellation of an unknown order': {
    path: `/v1/orders/${unknownId}/cancel`,
    init: { method: 'POST' },
    status: 404,
    tells: /no order/,
  },
  'a page of 101': { path: '/v1/orders?limit=101', status: 400, pointers: ['limit'], tells: /1 to 100/ },
  'a made-up cursor': { path: '/v1/orders?cursor=abc', status: 400, pointers: ['cursor'], tells: /next/ },
  'an unknown route': { path: '/v2/orders', status: 404, tells: /\/docs/ },
  'a method that is not offered': {
    path: '/v1/orders',
    init: { method: 'PUT' },
    status: 405,
    tells: /no PUT \/v1\/orders/,
  },
  'a method that is not offered, with a slash at the end': {
    path: '/v1/orders/',
    init: { method: 'DELETE' },
    status: 405,
    tells: /no DELETE/,
  },
  'a cancellation from a page of another site': {
    path: `/v1/orders/${unknownId}/cancel`,
    init: { method: 'POST', headers: { origin: 'https://evil.example' } },
    status: 403,
    tells: /evil\.example/,
  },
  'a broken escape in the path': { path: '/v1/orders/%zz', status: 400, tells: /hex digits/ },
}

export const badPayments: Record<string, BadRequest> = {
  'a missing orderId': {
    path: '/v1/payments',
    init: { method: 'POST', headers: json, body: '{"amount":1}' },
    status: 400,
    pointers: ['/orderId'],
    tells: /missing/,
  },
  'an orderId with a urn: prefix': {
    path: '/v1/payments',
    init: { method: 'POST', headers: json, body: JSON.stringify({ orderId: `urn:uuid:${unknownId}`, amount: 1 }) },
    status: 400,
    pointers: ['/orderId'],
    tells: /GUID/,
  },
  'a filter that is no GUID': { path: '/v1/payments?orderId=1', status: 400, pointers: ['orderId'], tells: /GUID/ },
  'an unknown id': { path: `/v1/payments/${unknownId}`, status: 404, tells: /no payment/ },
}
