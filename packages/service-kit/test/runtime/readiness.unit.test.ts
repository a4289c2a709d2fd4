import { expect } from 'chai'
import { createReadiness } from '../../src/runtime/create-app.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'

const streamIsThere = async () => undefined

describe('readiness', () => {
  it('lacks nothing with a sidecar, a store and a stream', async () => {
    expect(await createReadiness(new FakeSidecar('state.postgresql'), streamIsThere)()).to.deep.equal({})
  })

  it('lacks a store when nobody has tried that kind', async () => {
    expect(await createReadiness(new FakeSidecar('state.redis'), streamIsThere)()).to.deep.equal({
      store:
        'the store type state.redis is not tested with these services; use state.sqlite, state.postgresql or state.mongodb',
    })
  })

  it('says what the sidecar says of itself, and of the stream what is known of that', async () => {
    const sidecar = new FakeSidecar()
    sidecar.missing = async () => ({ sidecar: 'does not answer', store: 'does not answer' })
    sidecar.storeType = () => Promise.reject(new Error('nobody there'))
    const missing = { sidecar: 'does not answer', store: 'does not answer' }
    expect(await createReadiness(sidecar, streamIsThere)()).to.deep.equal(missing)
    expect(await createReadiness(sidecar, async () => 'is gone')()).to.deep.equal({ ...missing, stream: 'is gone' })
  })

  it('lacks the stream while the service itself no longer consumes a topic, whatever the broker says', async () => {
    const stopped = () => 'orderevents is no longer consumed'
    const readiness = createReadiness(new FakeSidecar(), async () => 'is gone', stopped)
    expect(await readiness()).to.deep.equal({ stream: 'orderevents is no longer consumed' })
  })
})
