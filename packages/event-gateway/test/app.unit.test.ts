import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { SidecarError } from '@orderflow/service-kit'
import { type Answer, publisherOf, withServer } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import { service } from '../src/service.ts'
import { envelope, full, legacy } from './envelopes.ts'
import { derivedIds, gateway, ids, lines, type ServedOutcome } from './gateway.ts'
import { trustFile } from './trust-file.ts'

describe('event-gateway', () => {
  const tested = gateway()
  const { appWith, request, publish, published, outcomesOf } = tested

  describe('without authentication', () => {
    it('publishes an envelope unsigned, with the OrderId as key, and changes its bytes only to add the ids that receivers derive', async () => {
      const event = envelope()
      const text = JSON.stringify(event).replace('"Total":10', '"Total": 10.00,"more": [12345678901234567890]')
      const { Id, TraceId } = derivedIds(text, event.Payload.OrderId)
      const { status, body } = await publish(` ${text}\n`)
      expect([status, body.items]).to.deep.equal([
        202,
        [{ index: 0, outcome: 'accepted', id: Id, variant: 'reduced', errors: [], warnings: [] }],
      ])
      const ids = `"Id":"${Id}","CorrelationId":"${TraceId}","TraceId":"${TraceId}",`
      expect(published()).to.deep.equal([text.replace('{', `{${ids}`)])
      expect(tested.sidecar.published[0]).to.deep.include({
        topic: 'orderevents',
        key: event.Payload.OrderId,
        headers: {},
      })
    })

    it('publishes a list of envelopes in one call and returns an outcome for each', async () => {
      const reduced = envelope()
      const all = [full(), reduced, full()]
      const reducedIds = derivedIds(JSON.stringify(reduced), reduced.Payload.OrderId)
      const answer = await publish(all)
      expect([answer.status, outcomesOf(answer)]).to.deep.equal([202, ['accepted', 'accepted', 'accepted']])
      expect(answer.body.items.map(({ id, variant }) => [id, variant])).to.deep.equal([
        [all[0]?.['Id' as keyof (typeof all)[0]], 'full'],
        [reducedIds.Id, 'reduced'],
        [all[2]?.['Id' as keyof (typeof all)[0]], 'full'],
      ])
      expect(published().map((text) => JSON.parse(text))).to.deep.equal([all[0], { ...reducedIds, ...reduced }, all[2]])
      expect(tested.sidecar.calls.publish).to.equal(1)
    })

    it('publishes valid lines of a body and reports invalid lines', async () => {
      const good = JSON.stringify(full())
      const answer = await publish(`${good}\n\n{"AppId":\n${good}\n`, lines)
      expect([answer.status, outcomesOf(answer)]).to.deep.equal([207, ['accepted', 'refused not-json', 'accepted']])
      expect(answer.body.items.map(({ index, line }) => [index, line])).to.deep.equal([
        [0, 1],
        [1, 3],
        [2, 4],
      ])
      expect(published()).to.deep.equal([good, good])
    })

    it('refuses the invalid envelopes of a list, names their problems, and publishes the rest', async () => {
      const answer = await publish([full(), envelope({ Name: 'OrderCreatd' }), envelope({}, { Total: '10' }), 1])
      expect(answer.status).to.equal(207)
      expect(outcomesOf(answer)).to.deep.equal([
        'accepted',
        'refused unknown-event',
        'refused invalid-payload',
        'refused not-an-envelope',
      ])
      expect(answer.body.items[1]?.errors).to.deep.equal([
        { pointer: '/Name', message: 'is not a known event', hint: 'write OrderCreated' },
      ])
      expect(answer.body.items[2]?.errors[0]).to.deep.equal({
        pointer: '/Payload/Total',
        message: 'must be a number, not a string',
        hint: 'send it without quotes: 12.5, not "12.5"',
      })
      expect(published()).to.have.length(1)
    })

    it('returns 400 with all outcomes if no envelope of a list is valid', async () => {
      const answer = await publish([{ ...envelope(), AppId: undefined }])
      expect([answer.status, outcomesOf(answer), published()]).to.deep.equal([400, ['refused not-an-envelope'], []])
      expect(answer.body.items[0]?.errors).to.deep.equal([{ pointer: '/AppId', message: 'is missing' }])
    })

    it('accepts an event without a schema, and returns a warning', async () => {
      const { status, body } = await publish(envelope({ Name: 'Observed' }, {}))
      expect([status, body.items[0]?.warnings[0]?.pointer]).to.deep.equal([202, '/Name'])
    })

    it('refuses an envelope with the AppId of our own services, whether it is signed or not', async () => {
      const [order, payment] = [publisherOf('OrderCreated'), publisherOf('PaymentApproved')]
      const answer = await publish([
        full({ AppId: order.id, AppName: order.name }),
        full({ AppId: order.id.toUpperCase() }),
        full({ AppName: payment.name }),
        full({ AppName: 'event-gateway' }),
      ])
      expect([answer.status, new Set(outcomesOf(answer)), published()]).to.deep.equal([
        403,
        new Set(['refused untrusted']),
        [],
      ])
      expect(answer.body.items[0]?.errors[0]?.message).to.match(/order-service; use the AppId of your own application/)
    })

    it('refuses topics that outside publishers may not write', async () => {
      const closed = await request('/v1/events/paymentevents', full())
      expect([closed.status, closed.body.detail]).to.deep.equal([
        403,
        'Only our own services write this topic. Outside publishers may write orderevents.',
      ])
      for (const topic of ['orderevents.dead', 'nothing', '__consumer_offsets']) {
        expect((await request(`/v1/events/${topic}`, full())).status, topic).to.equal(404)
      }
      expect(published()).to.deep.equal([])
    })

    it('refuses an event that belongs to another topic, and accepts an event that belongs to no topic', async () => {
      const Payload = { ...ids(), Amount: 10, Policy: 'amount-limit@1', Source: 'OrderCreated' }
      const answer = await publish([full(), full({ Name: 'PaymentApproved', Payload }), full({ Name: 'Observed' })])
      expect([answer.status, outcomesOf(answer)]).to.deep.equal([207, ['accepted', 'refused untrusted', 'accepted']])
      expect(answer.body.items[1]?.errors).to.deep.equal([
        {
          pointer: '/Name',
          message: 'is an event of paymentevents that outside applications may not publish (docs/trust.md)',
        },
      ])
      expect(published()).to.have.length(2)
    })

    it('refuses an event that trust.json does not list for its application', async () => {
      const file = trustFile('accept', {
        [legacy.id]: { name: legacy.name, topics: { orderevents: ['OrderCancelled'] } },
      })
      const answer = await publish(full(), {}, appWith({ Trust__File: file }))
      expect([answer.status, answer.body.items[0]?.errors[0]?.message]).to.deep.equal([
        403,
        `AppId ${legacy.id} is listed in trust.json but does not publish OrderCreated to orderevents according to this file: to accept the event, change the file, restart the services and send the event again`,
      ])
    })

    it('continues the trace of the request if the envelope has no TraceId', async () => {
      const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
      const own = '4bf92f35-77b3-4da6-a3ce-929d0e0e4736'
      await publish([envelope(), full({ TraceId: own }), full()], { traceparent })
      expect(tested.sidecar.published.map(({ headers }) => headers.traceparent)).to.deep.equal([
        traceparent,
        traceparent,
        undefined,
      ])
    })

    it('forwards the tracestate of the request, and the known fields of a later version of traceparent', async () => {
      const trace = '4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7'
      await publish(envelope(), { traceparent: `01-${trace}-01-more`, tracestate: 'shop=1' })
      expect(tested.sidecar.published[0]?.headers).to.deep.equal({
        traceparent: `00-${trace}-01`,
        tracestate: 'shop=1',
      })
    })
  })

  describe('with a failing sidecar', () => {
    const lost = () => new SidecarError('publish', new Error('no answer'))

    it('reports an unknown outcome and the effect of sending the envelope again', async () => {
      tested.sidecar.failures.publish.push(lost())
      const answer = await publish([full(), envelope(), {}])
      expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([503, '1'])
      expect(outcomesOf(answer)).to.deep.equal(['unknown', 'unknown', 'refused not-an-envelope'])
      expect(answer.body.items[0]?.retry).to.match(/the Id makes it the same event/)
      expect(answer.body.items[1]?.retry).to.match(/the Id makes it the same event/)
      expect(answer.body.detail).to.match(
        /^Of 3 envelopes 0 are in the log, 1 are refused, 0 were not sent, and 2 are unknown/,
      )
    })

    it('gives an envelope the same ids when it is sent again with its Idempotency-Key, alone or in a list', async () => {
      const key = { 'idempotency-key': 'a' }
      const event = envelope()
      tested.sidecar.failures.publish.push(lost())
      const first = await publish([envelope(), event], key)
      expect(first.body.items[1]?.retry).to.match(/the same event/)
      const again = await publish(event, key)
      const ids = (answer: Answer<ServedOutcome>) => answer.body.items.map(({ id }) => id)
      expect(ids(again)).to.deep.equal(ids(first).slice(1))
      expect(new Set(ids(first)).size).to.equal(2)
      expect(ids(await publish(event, { 'idempotency-key': 'b' }))).not.to.deep.equal(ids(again).slice(0, 1))
      const [value = ''] = published()
      const { Id, CorrelationId, TraceId, ...sent } = JSON.parse(value)
      expect([Id, CorrelationId, sent]).to.deep.equal([ids(again)[0], TraceId, event])
      expect(value.endsWith(JSON.stringify(event).slice(1))).to.equal(true)
      expect(again.body.items[0]?.variant).to.equal('reduced')
    })

    for (const key of [{}, { 'idempotency-key': 'a' }]) {
      const how = 'idempotency-key' in key ? 'with' : 'without'
      it(`derives the Id ${how} a key independently of equal envelopes in the body, and warns about them`, async () => {
        const event = envelope()
        const { body } = await publish([envelope(), event, event], key)
        const [, first, second] = body.items
        expect(second?.id).to.equal(first?.id)
        expect((await publish(event, key)).body.items[0]?.id).to.equal(second?.id)
        expect(first?.warnings).to.deep.equal([])
        expect(second?.warnings).to.deep.equal([
          {
            pointer: '/Id',
            message: 'makes this envelope the same event as the envelope with index 1, which has the same content',
            hint: 'give each event its own Id, or another CreationDate',
          },
        ])
      })
    }

    it('adds only missing ids to an envelope', async () => {
      const event = full()
      await publish([event, { ...event, TraceId: undefined }], { 'idempotency-key': 'a' })
      const [whole, completed] = published()
      expect(whole).to.equal(JSON.stringify(event))
      expect(JSON.parse(completed ?? '')).to.deep.equal({ ...event, TraceId: event.CorrelationId })
    })

    it('distinguishes a broker’s refusal from a missing answer', async () => {
      tested.sidecar.failures.publish.push(new SidecarError('publish', new Error('too large'), 'refused'))
      const answer = await publish(full())
      expect([answer.status, outcomesOf(answer)]).to.deep.equal([400, ['refused not-taken']])
    })
  })

  it('publishes to exactly the topics that outside publishers may write', () => {
    const file = new URL('../../../components/trust/publishers.json', import.meta.url)
    const { outside } = JSON.parse(readFileSync(file, 'utf8')) as { outside: object }
    expect(service.produces).to.have.members(Object.keys(outside))
  })

  it('serves each schema of the contract without authentication, at the path of its `$id`', async () => {
    const closed = appWith({ Auth__Mode: 'closed', Auth__ApiKeys: '[]' })
    await withServer(closed.web, async (url) => {
      const { schemas } = (await (await fetch(`${url}/schemas`)).json()) as { schemas: string[] }
      expect(schemas).to.include.members(['/schemas/common.json', '/schemas/events/OrderCreated.1.json'])
      for (const path of schemas) {
        const answer = await fetch(url + path)
        expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([200, 'application/schema+json'])
        expect(new URL(((await answer.json()) as { $id: string }).$id).pathname).to.equal(path)
      }
    })
  })

  it('serves the AsyncAPI document, and a page whose security policy allows only its own script', async () => {
    const closed = appWith({ Auth__Mode: 'closed', Auth__ApiKeys: '[]' })
    await withServer(closed.web, async (url) => {
      const document = (await (await fetch(`${url}/asyncapi.json`)).json()) as { channels: object }
      expect(document.channels).to.have.all.keys('orderevents', 'paymentevents', 'deadlines', 'calls')
      const page = await fetch(`${url}/asyncapi`)
      expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8')
      const [, script = ''] = /<script>([\s\S]*)<\/script>/.exec(await page.text()) ?? []
      const hash = createHash('sha256').update(script).digest('base64')
      expect(page.headers.get('content-security-policy')).to.include(`script-src 'sha256-${hash}'`)
    })
  })

  it('serves the schemas and the AsyncAPI document below a path prefix of a proxy', async () => {
    const { web } = appWith({ Web__Proxies: '1' })
    const headers = { 'x-forwarded-prefix': '/publish' }
    await withServer(web, async (url) => {
      const pathsOf = async (path: string, links: RegExp) => {
        const text = await (await fetch(url + path, { headers })).text()
        return Array.from(
          text.matchAll(links),
          ([, link = '']) => new URL(link, `${url}/publish${path === '/openapi.json' ? '/docs/' : path}`).pathname,
        )
      }
      const linked = await pathsOf('/asyncapi', /href="(?!#)([^"]+)"/g)
      // The page at /docs/ shows this description, so links in it are relative to /docs/.
      const described = await pathsOf('/openapi.json', /\]\((?!https?:)([^)]+)\)/g)
      const listed = await pathsOf('/schemas', /"(\/[^"]+)"/g)
      expect(linked).to.deep.equal(['/publish/asyncapi.json'])
      expect(described).to.deep.equal(['asyncapi', 'asyncapi.json', 'schemas'].map((name) => `/publish/${name}`))
      expect(listed).to.include('/publish/schemas/common.json')
      for (const path of [...linked, ...described, ...listed]) {
        expect((await fetch(url + path.replace('/publish', ''), { headers })).status, path).to.equal(200)
      }
    })
  })
})
