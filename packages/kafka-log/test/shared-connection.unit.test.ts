import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { createSharedConnection } from '../src/shared-connection.ts'

interface Fake {
  isClosed: boolean
  close(): void
}

describe('createSharedConnection', () => {
  let opened: Fake[]
  let shared: ReturnType<typeof createSharedConnection<Fake>>
  beforeEach(() => {
    opened = []
    shared = createSharedConnection(() => {
      const connection: Fake = {
        isClosed: false,
        close: () => {
          connection.isClosed = true
        },
      }
      opened.push(connection)
      return connection
    }, 20)
  })
  afterEach(() => shared.close())

  const closed = () => opened.map(({ isClosed }) => isClosed)
  /** Returns a call that ends when the returned function is called. */
  function begin() {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const call = shared.use(() => promise)
    return { call, resolve, fail: () => reject(new Error('broken')) }
  }

  it('serves concurrent and later calls', async () => {
    const [one, two] = [begin(), begin()]
    one.resolve()
    two.resolve()
    await Promise.all([one.call, two.call])
    await shared.use(async () => {})
    expect(closed()).to.deep.equal([false])
  })

  it('closes the connection when it was unused for some time, but never while a call uses it', async () => {
    const [short, long] = [begin(), begin()]
    short.resolve()
    await short.call
    await delay(60)
    expect(closed()).to.deep.equal([false])
    long.resolve()
    await long.call
    await delay(60)
    expect(closed()).to.deep.equal([true])
    expect(shared.isOpen()).to.equal(false)
  })

  it('replaces the connection after a failure, and closes it when its last call has ended', async () => {
    const [good, bad] = [begin(), begin()]
    bad.fail()
    expect(await bad.call.catch((error: Error) => error.message)).to.equal('broken')
    await shared.use(async () => {})
    expect(closed()).to.deep.equal([false, false])
    good.resolve()
    await good.call
    await delay(0)
    expect(closed()).to.deep.equal([true, false])
  })

  it('opens a connection again after a failure to open it', async () => {
    let isDown = true
    const late = createSharedConnection(() => {
      if (isDown) throw new Error('down')
      return { close() {} }
    }, 20)
    expect(await late.use(async () => 'up').catch((error: Error) => error.message)).to.equal('down')
    isDown = false
    expect(await late.use(async () => 'up')).to.equal('up')
    await late.close()
  })

  it('closes the connection at once at the end', async () => {
    const { call, resolve } = begin()
    await delay(0)
    await shared.close()
    expect(closed()).to.deep.equal([true])
    resolve()
    await call
  })
})
