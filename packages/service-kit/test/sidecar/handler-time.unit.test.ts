import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { callSidecar, HandlerTimeoutError, limitHandler } from '../../src/sidecar/handler-time.ts'
import { openInspector } from '../support/open-inspector.ts'
import { virtualTime } from '../support/virtual-time.ts'

const never = () => new Promise<never>(() => {})

describe('limitHandler', () => {
  const time = virtualTime()
  let result: unknown
  beforeEach(() => {
    result = undefined
  })
  const run = (handler: () => Promise<unknown>) =>
    void limitHandler(handler).then(
      (value) => {
        result = value
      },
      (error) => {
        result = error
      },
    )
  /** Lets seconds pass one by one, so that each step of a handler runs at its time. */
  async function pass(seconds: number): Promise<void> {
    for (let step = 0; step < seconds * 20; step += 1) await time.pass(50)
  }

  it('returns the result of the handler, or its error', async () => {
    expect(await limitHandler(async () => 'done')).to.equal('done')
    const error = new Error('refused')
    expect(await limitHandler(() => Promise.reject(error)).catch((thrown) => thrown)).to.equal(error)
  })

  it('ends a handler that never ends', async () => {
    run(never)
    await pass(9)
    expect(result).to.equal(undefined)
    await pass(3)
    expect(result).to.be.instanceOf(HandlerTimeoutError)
    expect((result as Error).message).to.match(
      /^the handler did not end within 10 s, without its waits for the sidecar/,
    )
  })

  it('leaves out the time of a call to the sidecar, however long it is', async () => {
    run(async () => {
      for (let call = 0; call < 5; call += 1) {
        await callSidecar(() => delay(60_000))
        await delay(1_000)
      }
      return 'done'
    })
    await pass(310)
    expect(result).to.equal('done')
  })

  it('ends a handler that calls the sidecar in an endless loop', async () => {
    let calls = 0
    run(async () => {
      for (;;) {
        calls += 1
        await callSidecar(() => delay(5))
      }
    })
    await pass(15)
    expect(result).to.be.instanceOf(HandlerTimeoutError)
    const made = calls
    await pass(5)
    expect(calls).to.equal(made)
  })

  it('refuses each call of a handler that was ended', async () => {
    let made = 0
    let refused: unknown
    run(async () => {
      await delay(20_000)
      refused = await callSidecar(async () => {
        made += 1
      }).catch((error: unknown) => error)
    })
    await pass(25)
    expect([made, refused]).to.deep.equal([0, result])
  })

  it('ends a late handler after its current call, so that the call takes no effect later', async () => {
    let end = () => {}
    run(async () => {
      await delay(9_980)
      await callSidecar(() => new Promise<void>((resolve) => (end = resolve)))
      await never()
    })
    await pass(60)
    expect(result).to.equal(undefined)
    end()
    await pass(3)
    expect(result).to.be.instanceOf(HandlerTimeoutError)
  })

  it('counts a pause of the process as one check', async () => {
    run(async () => {
      await delay(5_000)
      return 'done'
    })
    await time.pass(1_000)
    time.passAtOnce(2_000)
    await turn()
    await pass(5)
    expect(result).to.equal('done')
  })

  it('makes the call of a request, which has no limit', async () => {
    expect(await callSidecar(async () => 'done')).to.equal('done')
  })

  describe('with an inspector', () => {
    openInspector()

    it('does not end a handler that a debugger may have stopped', async () => {
      let end = (_: unknown) => {}
      run(() => new Promise((resolve) => (end = resolve)))
      await pass(60)
      expect(result).to.equal(undefined)
      end('done')
      await turn()
      expect(result).to.equal('done')
    })
  })
})
