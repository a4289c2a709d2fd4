import { createApp, createLog, readSettings, SidecarError } from '@orderflow/service-kit'
import { FakeSidecar, withServer } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import { service } from '../src/service.ts'
import { idIn, subject } from './subject.ts'

const settings = readSettings(service, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' })

describe('spare-part-service', () => {
  let sidecar: FakeSidecar
  let app: ReturnType<typeof createApp>
  beforeEach(() => {
    sidecar = new FakeSidecar()
    const log = createLog('spare-part-service', 'silent')
    app = createApp(service, { settings, log, sidecar, now: () => new Date(), newId: () => crypto.randomUUID() })
  })

  /** Delivers an event as the sidecar does, and returns the status of the response. */
  const deliver = ({ topic, key, envelope }: ReturnType<typeof subject.event>) =>
    withServer(app.channel, async (url) => {
      const event = Buffer.from(JSON.stringify(envelope)).toString('base64')
      const entry = { entryId: '1', event, metadata: { __key: key, __partition: '0', __offset: '0' } }
      const response = await fetch(`${url}/subscriptions/${topic}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'dapr-api-token': 'app' },
        body: JSON.stringify({ entries: [entry] }),
      })
      const { statuses } = (await response.json()) as { statuses: { status: string }[] }
      return statuses[0]?.status
    })
  const effectOf = (event: ReturnType<typeof subject.event>) =>
    withServer(app.web, (url) => subject.effectOf(url, event))

  it('stores one document for each ThingId, even if its event arrives repeatedly', async () => {
    const event = subject.event()
    expect(await effectOf(event)).to.equal(undefined)
    expect(await deliver(event)).to.equal('SUCCESS')
    const effect = await effectOf(event)
    expect(effect).to.include({ thingId: idIn(event) })
    const writes = sidecar.calls.transact
    expect(await deliver(event)).to.equal('SUCCESS')
    expect([await effectOf(event), sidecar.calls.transact]).to.deep.equal([effect, writes])
  })

  it('requests another delivery of an event while the store is down', async () => {
    const event = subject.event()
    sidecar.failures.transact.push(new SidecarError('call', new Error('connection refused')))
    expect(await deliver(event)).to.equal('RETRY')
    expect(await deliver(event)).to.equal('SUCCESS')
    expect(await effectOf(event)).to.include({ thingId: idIn(event) })
  })
})
