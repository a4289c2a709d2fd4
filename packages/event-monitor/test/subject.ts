import type { BadRequest, Subject } from '@orderflow/service-kit/testing'

const get = (path: string) => ({ path, init: { method: 'GET' } })
const post = (path: string, body: object) => ({
  path,
  init: { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
})
const id = '7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11'

const cases: Record<string, BadRequest> = {
  'a moment without an offset': {
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
  'a limit of none': { ...get('/v1/events?limit=0'), status: 400, pointers: ['limit'], tells: /1 to 100/ },
  'an id that is none': { ...get('/v1/conversations/1'), status: 400, pointers: ['correlationId'], tells: /GUID/ },
  'an invalid record position': {
    ...get('/v1/events/orderevents/x/0'),
    status: 400,
    pointers: ['offset'],
    tells: /part of a record position/,
  },
  'a look without a reason': {
    ...post('/v1/events/orderevents/0/0/reveal', {}),
    status: 400,
    pointers: ['/reason'],
    tells: /recorded/,
  },
  'a reason of two characters, one of them two code units': {
    ...post('/v1/events/orderevents/0/0/reveal', { reason: 'a\u{1f600}' }),
    status: 400,
    pointers: ['/reason'],
    tells: /3 to 200 characters/,
  },
  'a replay of nothing': { ...post('/v1/replays', {}), status: 400, pointers: ['/entries'], tells: /list of ids/ },
  'a replay too fast': {
    ...post('/v1/replays', { entries: [id], perSecond: 0 }),
    status: 400,
    pointers: ['/perSecond'],
    tells: /1 to 1000/,
  },
  'a replay of a dead letter that there is not': {
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
  'an attempt that is no position': {
    ...post('/v1/replays', { entries: [id], attempt: { topic: 'orderevents' } }),
    status: 400,
    pointers: ['/attempt'],
    tells: /record position/,
  },
  'two edited at once': {
    ...post('/v1/replays', { entries: [id, id], edited: { text: '{}' } }),
    status: 400,
    pointers: ['/edited'],
    tells: /one entry/,
  },
}

/** What the specs of every service (packages/test-kit) need to know of this one, which reacts to nothing. */
export const subject: Pick<Subject, 'badRequests'> = { badRequests: cases }
