import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { LostWritesError, SidecarError } from '../../src/sidecar/sidecar.ts'
import { createStoreWatch } from '../../src/state/store-watch.ts'
import { capturedLog } from '../../src/testing/captured-log.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'

describe('createStoreWatch', () => {
  let sidecar: FakeSidecar
  let answers: (string | undefined | Error)[]
  let remembered: ('suspect' | undefined)[]
  let changes: boolean[]
  let compared: number
  let release: () => void
  let held: Promise<void>
  beforeEach(() => {
    sidecar = new FakeSidecar()
    answers = []
    remembered = []
    changes = []
    compared = 0
    held = Promise.resolve()
  })

  /** Makes the next comparisons wait until `release` is called. */
  function hold(): void {
    held = new Promise((resolve) => {
      release = resolve
    })
  }
  const opened = (everyMs?: number) => {
    const { log, records } = capturedLog()
    const comparison = {
      async compare() {
        compared += 1
        await held
        const answer = answers.shift()
        if (answer instanceof Error) throw answer
        return answer
      },
      async remember(isChanged: boolean) {
        changes.push(isChanged)
        return remembered.shift()
      },
    }
    return { records, watch: createStoreWatch(sidecar, comparison, log, everyMs) }
  }
  const failure = (call: Promise<unknown>) =>
    call.then(
      () => undefined,
      (error: unknown) => error,
    )

  it('lets calls pass before it starts', async () => {
    const { watch } = opened()
    expect(await watch.sidecar.readOne('a')).to.equal(undefined)
    expect([watch.blockedBy(), await watch.fault(), compared]).to.deep.equal([undefined, undefined, 0])
  })

  it('makes calls wait for the first comparison, and blocks events until then', async () => {
    const { watch } = opened()
    hold()
    watch.start()
    const read = watch.sidecar.read(['a'])
    expect(watch.blockedBy()).to.match(/compares its store/)
    expect(sidecar.calls.read).to.equal(0)
    release()
    await read
    expect([watch.blockedBy(), sidecar.calls.read]).to.deep.equal([undefined, 1])
  })

  it('refuses each use of a store that lost writes, and names the rebuild', async () => {
    answers = ['run make rebuild']
    const { watch, records } = opened()
    hold()
    watch.start()
    release()
    const uses = [
      watch.sidecar.read(['a']),
      watch.sidecar.readOne('a'),
      watch.sidecar.transact([]),
      watch.sidecar.save([], 'etag'),
    ]
    for (const use of uses) expect(await failure(use)).to.be.instanceOf(LostWritesError)
    expect([watch.blockedBy(), await watch.fault()]).to.deep.equal(['run make rebuild', 'run make rebuild'])
    const errors = records.filter(({ level }) => level === 'error')
    expect(errors.map(({ reason }) => reason)).to.deep.equal(['run make rebuild'])
  })

  it('continues after the rebuild, without a restart', async () => {
    answers = ['run make rebuild', undefined]
    const { watch } = opened()
    watch.start()
    expect(await failure(watch.sidecar.read(['a']))).to.be.instanceOf(LostWritesError)
    while (watch.blockedBy() !== undefined) await delay(20)
    await watch.sidecar.read(['a'])
    expect(await watch.fault()).to.equal(undefined)
  })

  it('compares again after an outage of the store, and makes remembered documents invalid', async () => {
    const { watch } = opened()
    watch.start()
    await watch.sidecar.read(['a'])
    const before = watch.generation()
    await delay(600)
    sidecar.failures.read.push(new SidecarError('read state', 'gone'))
    answers = ['run make rebuild']
    expect(await failure(watch.sidecar.read(['a']))).to.be.instanceOf(SidecarError)
    expect(watch.blockedBy()).to.match(/compares its store/)
    expect(await failure(watch.sidecar.read(['a']))).to.be.instanceOf(LostWritesError)
    expect(watch.generation()).to.equal(before + 1)
    expect(compared).to.equal(2)
  })

  it('does not compare again after a conflict or a refusal', async () => {
    const { watch } = opened()
    watch.start()
    await watch.sidecar.read(['a'])
    for (const kind of ['conflict', 'refused'] as const) {
      sidecar.failures.transact.push(new SidecarError('write state', 'no', kind))
      await failure(watch.sidecar.transact([]))
    }
    expect([watch.blockedBy(), compared]).to.deep.equal([undefined, 1])
  })

  it('lets requests pass while Kafka does not answer, and lets events wait', async () => {
    answers = [new Error('no broker'), new Error('no broker')]
    const { watch } = opened()
    watch.start()
    await watch.sidecar.read(['a'])
    expect(watch.blockedBy()).to.match(/compares its store/)
    expect(await watch.fault()).to.equal(undefined)
    while (watch.blockedBy() !== undefined) await delay(20)
    expect(watch.waits()).to.equal(undefined)
  })

  it('lets requests pass at once after Kafka has not answered', async () => {
    answers = [new Error('no broker')]
    const { watch } = opened()
    watch.start()
    await watch.sidecar.read(['a'])
    hold()
    while (compared < 2) await delay(20)
    await watch.sidecar.read(['a'])
    expect(watch.blockedBy()).to.match(/compares its store/)
    release()
    while (watch.blockedBy() !== undefined) await delay(20)
  })

  it('makes calls wait for the next comparison after the store has not answered', async () => {
    answers = [new SidecarError('read state', 'gone')]
    const { watch } = opened()
    watch.start()
    await watch.sidecar.read(['a'])
    hold()
    while (compared < 2) await delay(20)
    const read = watch.sidecar.read(['a'])
    const before = sidecar.calls.read
    release()
    await read
    expect([before, sidecar.calls.read]).to.deep.equal([1, 2])
  })

  it('remembers positions after events, and after writes of requests', async () => {
    const { watch } = opened(2)
    watch.start()
    await watch.sidecar.read(['a'])
    const next = async (update: boolean) => {
      changes = []
      while (changes.at(-1) !== update) await delay(1)
    }
    await next(false)
    await watch.sidecar.save([{ key: 'a', value: '1' }], 'etag')
    await next(true)
    await next(false)
    watch.blockedBy()
    await next(true)
  })

  it('refuses calls after a limited time while a comparison takes long', async () => {
    const { watch } = opened(2)
    hold()
    watch.start()
    expect(await failure(watch.sidecar.read(['a']))).to.match(/compares its store with the log/)
    expect(sidecar.calls.read).to.equal(0)
    release()
    while (watch.blockedBy() !== undefined) await delay(1)
    await watch.sidecar.read(['a'])
  })
})
