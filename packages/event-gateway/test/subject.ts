import type { BadRequest, Subject } from '@orderflow/service-kit/testing'

const json = { 'content-type': 'application/json' }
const lines = { 'content-type': 'application/x-ndjson' }

const post = (body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = json) => ({
  path: '/v1/events/orderevents',
  init: { method: 'POST', headers, body },
})

const cases: Record<string, BadRequest> = {
  'an empty body': { ...post(''), status: 400, tells: /an envelope, a list/ },
  'an empty list': { ...post(' [ ] '), status: 400, tells: /an envelope, a list/ },
  'blank lines': { ...post('\n \r\n\n', lines), status: 400, tells: /one on each line/ },
  'a list that ends too early': { ...post('[{}, {}'), status: 400, tells: /must end at the end of the body/ },
  'an envelope after a list': { ...post('[{}] {}'), status: 400, tells: /must end at the end of the body/ },
  'list elements that are no envelopes': { ...post('[1, null, {}]'), status: 400, tells: /errors in items/ },
  '1,001 envelopes': { ...post(`[${Array(1_001).fill('{}').join()}]`), status: 413, tells: /at most 1000 envelopes/ },
  'a body above 4 MiB': { ...post(`[${' '.repeat(4 * 1024 * 1024)}]`), status: 413, tells: /at most 4194304 bytes/ },
  'another content type': {
    ...post('{}', { 'content-type': 'text/plain' }),
    status: 415,
    tells: /application\/json or application\/x-ndjson/,
  },
  'another charset': {
    ...post('{}', { 'content-type': 'application/json; charset=latin1' }),
    status: 415,
    tells: /UTF-8/,
  },
  'a compressed body': {
    ...post('{}', { ...json, 'content-encoding': 'gzip' }),
    status: 415,
    tells: /Content-Encoding/,
  },
  'a topic of our own services': {
    ...post('{}'),
    path: '/v1/events/paymentevents',
    status: 403,
    tells: /Outside publishers may write orderevents/,
  },
  'an unknown topic': {
    ...post('{}'),
    path: '/v1/events/nothing',
    status: 404,
    tells: /Outside publishers may write orderevents/,
  },
  'another mode': {
    ...post('{}'),
    path: '/v1/envelopes/validate?mode=reader',
    status: 400,
    pointers: ['mode'],
    tells: /publisher or receiver/,
  },
}

export const subject: Pick<Subject, 'badRequests'> = { badRequests: cases }
