import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { inspect } from 'node:util'
import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { newTraceId, within } from '../../src/telemetry/context.ts'
import { openInspector } from '../support/open-inspector.ts'
import { recordedSpans } from '../support/recorded-spans.ts'
import { daprServer, type SaveStateRequest, statestore } from './dapr-server.ts'

describe('createSidecar', () => {
  const tested = daprServer()
  const { handlers, openSidecar, failure, grpcError, event } = tested

  const remainingMs = async () => {
    handlers.GetState = () => ({})
    await tested.sidecar.readOne('a key')
    return Number(tested.deadline) - Date.now()
  }

  /** Returns the number of connections that three calls use. */
  async function connections(): Promise<number> {
    const peers = new Set<string>()
    handlers.GetState = () => ({})
    for (let calls = 0; calls < 3; calls += 1) {
      await tested.sidecar.readOne('a key')
      peers.add(tested.peer)
    }
    return peers.size
  }

  it('makes all calls on one connection', async () => {
    expect(await connections()).to.equal(1)
  })

  it('waits 10 seconds for an answer', async () => {
    expect(await remainingMs()).to.be.within(5_000, 10_000)
  })

  for (const name of ['grpc_proxy', 'https_proxy', 'http_proxy']) {
    it(`connects to the sidecar directly if the environment sets ${name}`, async () => {
      const connected: unknown[] = []
      const proxy = createServer((socket) => connected.push(socket.destroy())).listen(0, '127.0.0.1')
      await once(proxy, 'listening')
      const before = process.env[name]
      process.env[name] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
      try {
        handlers.GetState = () => ({})
        await openSidecar().readOne('a key')
        expect(connected).to.deep.equal([])
      } finally {
        if (before === undefined) delete process.env[name]
        else process.env[name] = before
        proxy.close()
      }
    })
  }

  describe('with an inspector', () => {
    openInspector()

    it('opens a connection for each call, because the sidecar closes connections of a stopped process', async () => {
      expect(await connections()).to.equal(3)
    })

    it('waits a day for an answer', async () => {
      expect(await remainingMs()).to.be.within(86_000_000, 86_400_000)
    })
  })

  it('reports an unhealthy sidecar, or an unavailable store', async () => {
    handlers.GetBulkState = () => ({ items: [] })
    expect([await tested.sidecar.fault(), await tested.sidecar.storeFault()]).to.deep.equal([
      'does not answer',
      undefined,
    ])
    handlers.GetBulkState = () => {
      throw Object.assign(new Error('no mongodb://user:pw@host'), { code: status.INTERNAL })
    }
    expect([await tested.sidecar.fault(), await tested.sidecar.storeFault()]).to.deep.equal([
      'does not answer',
      'does not answer',
    ])
  })

  it('reads existing documents with their etags, and sends the token', async () => {
    handlers.GetBulkState = () => ({ items: [{ key: 'a', data: Buffer.from('{"b":1}'), etag: '7' }, { key: 'c' }] })
    expect([...(await tested.sidecar.read(['a', 'c']))]).to.deep.equal([['a', { value: { b: 1 }, etag: '7' }]])
    expect(tested.token).to.equal('dapr-token')
  })

  it('passes the current trace to the sidecar, with the span of the call as the parent', async () => {
    const { tracing, spans } = recordedSpans()
    const span = tracing.begin('outer', newTraceId(), undefined, { kind: 'server' })
    handlers.GetState = () => ({})
    const other = { ...span.context, traceId: newTraceId() }
    await within({ document: undefined, span, links: [other] }, () => tested.sidecar.readOne('a'))
    const [made] = spans()
    expect(tested.traceparent).to.equal(`00-${span.context.traceId}-${made?.spanId}-01`)
    expect(made).to.include({
      name: 'dapr.proto.runtime.v1.Dapr/GetState',
      kind: 'client',
      parent: span.context.spanId,
    })
    expect(made?.links).to.deep.equal([other.spanId])
    expect(made?.attributes).to.include({ 'rpc.system': 'grpc', 'rpc.method': 'GetState' })

    handlers.GetState = () => {
      throw grpcError(status.UNAVAILABLE, 'of Ada')
    }
    await within({ document: undefined, span }, () => failure(tested.sidecar.readOne('a')))
    expect(spans()[1]).to.include({ isError: true, message: undefined })
    expect(spans()[1]?.attributes).to.include({ 'error.type': 'UNAVAILABLE' })
    await failure(tested.sidecar.readOne('a'))
    expect(tested.traceparent).to.equal(undefined)
    expect(spans()).to.have.lengthOf(2)
  })

  it('reads one document, and returns undefined for a missing document', async () => {
    handlers.GetState = () => ({ data: Buffer.from('{"b":1}'), etag: '7' })
    expect(await tested.sidecar.readOne('a')).to.deep.equal({ value: { b: 1 }, etag: '7' })
    handlers.GetState = () => ({})
    expect(await tested.sidecar.readOne('a')).to.equal(undefined)
  })

  it('fails if a key is unreadable, instead of reporting the document as absent', async () => {
    handlers.GetBulkState = () => ({ items: [{ key: 'a', error: 'disk I/O error' }] })
    expect(await failure(tested.sidecar.read(['a']))).to.equal('SidecarError unavailable')
  })

  it('reports a document that is not JSON as an error of the store', async () => {
    handlers.GetBulkState = () => ({ items: [{ key: 'a', data: Buffer.from('{') }] })
    expect(await failure(tested.sidecar.read(['a']))).to.equal('SidecarError unavailable')
  })

  it('hides the content of a document that is not JSON, because it may be personal', async () => {
    handlers.GetState = () => ({ data: Buffer.from('{"Name": SECRET}'), etag: '1' })
    const error = await tested.sidecar.readOne('a').catch((thrown: unknown) => thrown)
    expect(inspect(error, { depth: null, showHidden: true }))
      .to.contain('read a: the document is not JSON')
      .and.not.to.contain('SECRET')
  })

  it('saves each document with its own guard', async () => {
    let request: unknown
    handlers.SaveState = (given) => {
      request = given
      return {}
    }
    const value = '{"b":1}'
    await tested.sidecar.save(
      [
        { key: 'a', value, guard: { etag: '7' } },
        { key: 'b', value, guard: 'absent' },
        { key: 'c', value },
      ],
      randomUUID(),
    )
    const { storeName, states } = request as SaveStateRequest
    expect(storeName).to.equal('statestore')
    const firstWrite = 1
    expect(
      states.map(({ key, value, etag, options }) => [key, `${Buffer.from(value)}`, etag?.value, options?.concurrency]),
    ).to.deep.equal([
      ['a', value, '7', firstWrite],
      ['b', value, undefined, firstWrite],
      ['c', value, undefined, undefined],
    ])
  })

  it('reports the server of PostgreSQL only', async () => {
    handlers.GetMetadata = () => ({ registeredComponents: [statestore] })
    expect(await tested.sidecar.storeServer()).to.equal(undefined)
  })

  it('returns the type of the store, and fails for an unknown component', async () => {
    const other = { name: 'env-secrets', type: 'secretstores.local.env' }
    handlers.GetMetadata = () => ({ registeredComponents: [other, statestore] })
    expect(await tested.sidecar.store()).to.deep.equal({ type: 'state.sqlite', choosesEtags: false })
    handlers.GetMetadata = () => ({ registeredComponents: [other] })
    expect(await failure(tested.sidecar.store())).to.equal('SidecarError unavailable')
  })

  it('publishes each event with its own key and headers, and detects an event that the broker did not accept', async () => {
    let seen: { metadata: object; entries: { metadata: object }[] } | undefined
    handlers.BulkPublishEventAlpha1 = (request) => {
      seen = request as typeof seen
      return {}
    }
    await tested.sidecar.publish('t', [event])
    expect(seen?.metadata).to.deep.equal({ rawPayload: 'true' })
    expect(seen?.entries[0]?.metadata).to.deep.equal({ partitionKey: 'k', traceparent: 'x' })
    handlers.BulkPublishEventAlpha1 = () => ({ failedEntries: [{ entryId: '0', error: 'no' }] })
    expect(await failure(tested.sidecar.publish('t', [event]))).to.equal('SidecarError unavailable')
  })

  it('publishes through the next component after an outage, but not after a refusal', async () => {
    const through: string[] = []
    let answer: () => unknown = () => ({})
    handlers.BulkPublishEventAlpha1 = (request) => {
      through.push((request as { pubsubName: string }).pubsubName)
      return answer()
    }
    const publish = () => failure(tested.sidecar.publish('t', [event]))
    const fail = (code: status, details: string) => () => {
      throw grpcError(code, details)
    }
    await publish()
    const [first, second] = through[0] === 'pubsub' ? ['pubsub', 'pubsub-1'] : ['pubsub-1', 'pubsub']
    answer = fail(status.INTERNAL, 'kafka: circuit breaker is open')
    await Promise.all([publish(), publish()])
    answer = fail(status.INTERNAL, 'kafka server: Message was too large')
    expect(await publish()).to.equal('SidecarError refused')
    answer = () => ({ failedEntries: [{ entryId: '0', error: 'no' }] })
    await publish()
    answer = () => ({})
    await publish()
    expect(through).to.deep.equal([first, first, first, second, second, first])
  })

  it('distinguishes a lost race, a refusal and an outage', async () => {
    const write = () => failure(tested.sidecar.transact([{ key: 'a', value: '1', guard: 'absent' }]))
    const answers: [status, string, string][] = [
      [status.INTERNAL, 'possible etag mismatch. error from state store', 'conflict'],
      [status.INTERNAL, 'database is locked', 'unavailable'],
      // A message that is too large now will still be too large later. These are the texts of grpc-go, of grpc-js, and of Dapr's Kafka client.
      [status.RESOURCE_EXHAUSTED, 'grpc: received message larger than max (17825813 vs. 16777216)', 'refused'],
      [status.RESOURCE_EXHAUSTED, 'trying to send message larger than max (17825813 vs. 16777216)', 'refused'],
      [status.RESOURCE_EXHAUSTED, 'grpc: message after decompression larger than max (2 vs. 1)', 'refused'],
      [status.RESOURCE_EXHAUSTED, 'grpc: message too large (4294967296 bytes)', 'refused'],
      [status.RESOURCE_EXHAUSTED, 'Received message that decompresses to a size larger than 16777216', 'refused'],
      [
        status.INTERNAL,
        'kafka: invalid configuration (Attempt to produce message larger than configured Producer.MaxMessageBytes: 3 > 2)',
        'refused',
      ],
      // A rate limit or a quota may allow the message later. These are the texts of grpc-js for ENHANCE_YOUR_CALM, of Azure Cosmos DB, and of a
      // proxy.
      [status.RESOURCE_EXHAUSTED, 'Bandwidth exhausted or memory limit exceeded', 'unavailable'],
      [status.RESOURCE_EXHAUSTED, '(RequestRateTooLarge) Error=16500: Request rate is large.', 'unavailable'],
      [status.INTERNAL, '(RequestRateTooLarge) Error=16500: Request rate is large.', 'unavailable'],
      [status.RESOURCE_EXHAUSTED, 'Quota exceeded', 'unavailable'],
      [status.INTERNAL, 'failed to commit transaction: database or disk is full (13)', 'unavailable'],
      [status.RESOURCE_EXHAUSTED, 'could not extend file "base/5/16384": No space left on device', 'unavailable'],
      [status.UNAVAILABLE, 'connection refused', 'unavailable'],
      [status.INVALID_ARGUMENT, 'invalid key', 'refused'],
      [status.INVALID_ARGUMENT, 'state store statestore is not found', 'unavailable'],
    ]
    for (const [code, details, expected] of answers) {
      handlers.ExecuteStateTransaction = () => {
        throw grpcError(code, details)
      }
      expect(await write()).to.equal(`SidecarError ${expected}`)
    }
  })
})
