import type { BadRequest, Subject } from '@orderflow/service-kit/testing'

const get = (path: string) => ({ path, init: { method: 'GET' } })
const post = (path: string, body: object) => ({
  path,
  init: { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
})
const id = '7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11'

const cases: Record<string, BadRequest> = {
  'a time without an offset': {
    ...get('/v1/events?from=2026-01-01T00:00:00'),
    status: 400,
    pointers: ['from'],
    tells: /offset/,
  },
  'an unknown validity': {
    ...get('/v1/events?validity=odd'),
    status: 400,
    pointers: ['validity'],
    tells: /invalid-payload/,
  },
  'a limit of 0': { ...get('/v1/events?limit=0'), status: 400, pointers: ['limit'], tells: /1 to 100/ },
  'an invalid id': { ...get('/v1/conversations/1'), status: 400, pointers: ['correlationId'], tells: /GUID/ },
  'an invalid record position': {
    ...get('/v1/events/orderevents/x/0'),
    status: 400,
    pointers: ['offset'],
    tells: /a record position is a topic/,
  },
  'a reveal without a reason': {
    ...post('/v1/events/orderevents/0/0/reveal', {}),
    status: 400,
    pointers: ['/reason'],
    tells: /recorded/,
  },
  'a reason of two characters, one of which has two code units': {
    ...post('/v1/events/orderevents/0/0/reveal', { reason: 'a\u{1f600}' }),
    status: 400,
    pointers: ['/reason'],
    tells: /3 to 200 characters/,
  },
  'a deadline without its time': {
    ...post('/v1/deadlines/fire', { service: 'order-service', entity: 'order', id, deadline: 'PaymentDue' }),
    status: 400,
    pointers: ['/due'],
    tells: /must be a text/,
  },
  'a replay without entries': { ...post('/v1/replays', {}), status: 400, pointers: ['/entries'], tells: /list of ids/ },
  'a replay at an invalid rate': {
    ...post('/v1/replays', { entries: [id], perSecond: 0 }),
    status: 400,
    pointers: ['/perSecond'],
    tells: /1 to 1000/,
  },
  'a replay of an unknown dead letter': {
    ...post('/v1/replays', { entries: [id] }),
    status: 404,
    tells: new RegExp(`no dead letter ${id}`),
  },
  'an edit without its attempt': {
    ...post('/v1/replays', { entries: [id], edited: { text: '{}' } }),
    status: 400,
    pointers: ['/attempt'],
    tells: /the dead letter that you edited/,
  },
  'an attempt without a position': {
    ...post('/v1/replays', { entries: [id], attempt: { topic: 'orderevents' } }),
    status: 400,
    pointers: ['/attempt'],
    tells: /record position/,
  },
  'an edit of two entries': {
    ...post('/v1/replays', { entries: [id, id], edited: { text: '{}' } }),
    status: 400,
    pointers: ['/edited'],
    tells: /one entry/,
  },
}

export const subject: Pick<Subject, 'badRequests'> = { badRequests: cases }
