import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import type { Auth } from '../../src/auth/auth.ts'
import type { Caller } from '../../src/auth/caller.ts'
import { withServer } from '../../src/testing/http.ts'
import { createStreams, type Send } from '../../src/web/event-stream.ts'
import { call } from './support/call.ts'
import { webWith } from './support/things.ts'

describe('createStreams', () => {
  let send: Send
  let closed: number
  let begun: Promise<void>

  function app() {
    const streams = createStreams()
    closed = 0
    const { promise, resolve } = Promise.withResolvers<void>()
    begun = promise
    const stream = streams.route({
      path: '/v1/live',
      scope: 'things:read',
      summary: 'Watch',
      input: {},
      body: { name: 'Messages', schema: { type: 'object' } },
      open(_input, given) {
        send = given
        resolve()
        return () => {
          closed += 1
        }
      },
    })
    return { streams, web: webWith({ routes: [stream] }) }
  }

  it('documents the media type text/event-stream in OpenAPI', async () => {
    const { text } = await call(app().web, '/openapi.json')
    const { get } = JSON.parse(text).paths['/v1/live']
    expect(get.responses['200'].content).to.have.keys('text/event-stream')
  })

  it('sends each message at once, and ends the streams when the service ends', async () => {
    const { streams, web } = app()
    await withServer(web, async (url) => {
      const response = await fetch(`${url}/v1/live`)
      expect(response.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8')
      await begun
      expect(send('batch', { count: 1 })).to.equal(true)
      streams.end()
      expect(await response.text()).to.equal('event: batch\ndata: {"count":1}\n\n')
      while (closed === 0) await delay(5)
      expect(send('batch', {})).to.equal(false)
    })
  })

  it('calls the result of `open`, a function, as soon as the client disconnects', async () => {
    await withServer(app().web, async (url) => {
      const leave = new AbortController()
      await fetch(`${url}/v1/live`, { signal: leave.signal })
      await begun
      leave.abort()
      while (closed === 0) await delay(5)
      expect(closed).to.equal(1)
    })
  })

  it('opens no timer, view or listener for a client that disconnected during authentication', async () => {
    const [arrived, verified, left, handled] = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
    let opened = 0
    const stream = createStreams().route({
      path: '/v1/live',
      scope: 'things:read',
      summary: 'Watch',
      input: {},
      body: { name: 'Messages', schema: { type: 'object' } },
      open() {
        opened += 1
        return () => {}
      },
    })
    let added: number | undefined
    const handle: typeof stream.handle = async (request, response) => {
      const listeners = () => request.socket.listenerCount('close') + response.listenerCount('close')
      const before = listeners()
      await stream.handle(request, response)
      added = listeners() - before
      handled?.resolve()
    }
    const caller: Caller = { id: 'ada', tenant: { id: '', userId: '' }, scopes: new Set(['things:read']) }
    const issuer = {
      async verify() {
        arrived?.resolve()
        await verified?.promise
        return caller
      },
    }
    const auth = { issuer } as unknown as Auth
    const web = webWith({ routes: [{ ...stream, handle }], auth })
    await withServer(
      (request, response) => {
        request.socket.once('close', () => left?.resolve())
        web(request, response)
      },
      async (url) => {
        const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
        const client = request(`${url}/v1/live`, { headers: { authorization: 'Bearer a.b.c' } }).on('error', () => {})
        client.end()
        await arrived?.promise
        const before = timers()
        client.destroy()
        await left?.promise
        verified?.resolve()
        await handled?.promise
        expect({ views: opened, timers: timers() - before, listeners: added }).to.deep.equal({
          views: 0,
          timers: 0,
          listeners: 0,
        })
      },
    )
  })

  it('limits the number of messages that wait for a client that does not read', async () => {
    await withServer(app().web, async (url) => {
      const client = request(`${url}/v1/live`).end()
      const [response] = await once(client, 'response')
      response.pause()
      await begun
      const message = { text: 'x'.repeat(100_000) }
      let sent = 0
      while (send('batch', message) && sent < 10_000) {
        sent += 1
        await delay(0)
      }
      expect(sent).to.be.below(10_000)
      client.destroy()
    })
  })

  it('answers HEAD and opens no stream', async () => {
    const { status, text } = await call(app().web, '/v1/live', { method: 'HEAD' })
    expect([status, text, closed]).to.deep.equal([200, '', 0])
  })
})
