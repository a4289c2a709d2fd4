import { expect } from 'chai'
import { createReadiness } from '../../src/runtime/readiness/readiness.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'

const streamIsThere = async () => undefined

describe('createReadiness', () => {
  it('reports nothing as missing if the sidecar, the store and the stream work', async () => {
    expect(await createReadiness(new FakeSidecar('state.postgresql'), streamIsThere)()).to.deep.equal({})
  })

  it('reports a store of an untested type', async () => {
    expect(await createReadiness(new FakeSidecar('state.redis'), streamIsThere)()).to.deep.equal({
      store:
        'the store type state.redis is not tested with these services; use state.sqlite, state.postgresql or state.mongodb',
    })
  })

  it('reports the problems of the sidecar, the store and the stream', async () => {
    const sidecar = new FakeSidecar()
    sidecar.fault = async () => 'does not answer'
    sidecar.storeFault = async () => 'does not answer'
    sidecar.store = () => Promise.reject(new Error('connection refused'))
    const missing = { sidecar: 'does not answer', store: 'does not answer' }
    expect(await createReadiness(sidecar, streamIsThere)()).to.deep.equal(missing)
    expect(await createReadiness(sidecar, async () => 'is gone')()).to.deep.equal({ ...missing, stream: 'is gone' })
  })

  it('checks only the other parts, so that an outage of an excluded part never delays the answer', async () => {
    const sidecar = new FakeSidecar()
    const never = () => new Promise<never>(() => {})
    sidecar.fault = async () => 'does not answer'
    sidecar.storeFault = never
    sidecar.store = never
    const readiness = createReadiness(sidecar, never, () => 'in is no longer consumed')
    expect(await readiness(new Set(['store', 'stream']))).to.deep.equal({ sidecar: 'does not answer' })
  })

  it('reports a topic that the service stopped consuming, instead of problems of the broker', async () => {
    const stopped = () => 'orderevents is no longer consumed'
    const readiness = createReadiness(new FakeSidecar(), async () => 'is gone', stopped)
    expect(await readiness()).to.deep.equal({ stream: 'orderevents is no longer consumed' })
  })
})
