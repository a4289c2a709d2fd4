import { randomUUID } from 'node:crypto'
import { noTenant } from '@orderflow/envelope'
import { expect } from 'chai'
import { OverloadError } from '../../src/sidecar/batcher.ts'
import { HeldError, LostWritesError, UncertainError } from '../../src/sidecar/sidecar.ts'
import { type Announcing, createAnnouncing } from '../../src/state/announcing.ts'
import { createDocuments } from '../../src/state/documents.ts'
import { isInfrastructure } from '../../src/stream/dead-letters/fault.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { accountId, Clock, event, logOf, outage, revisionsIn, start } from './account.ts'

/** Runs a change of a document, and the announcement of its events. */
async function during<T>(announcing: Announcing, key: string, isLimited: boolean, work: () => Promise<T>): Promise<T> {
  const end = announcing.begin(key, isLimited)
  const result = await work().catch((error: unknown) => {
    end(error)
    throw error
  })
  end()
  return result
}

interface Register {
  epoch: number
  keys: string[]
}
const registersIn = (sidecar: FakeSidecar): [string, Register][] =>
  [...sidecar.documents]
    .filter(([key]) => key.startsWith('announcing/'))
    .map(([key, { value }]) => [key, value as Register])

async function pass(clock: Clock, seconds: number, sweep: () => Promise<void>): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await sweep()
    clock.pass(1_000)
  }
}

/** Returns the announcing of a process, with registers in memory. */
function announcingOf() {
  const [clock, registers] = [new Clock(), new Map<string, unknown>()]
  const announcing: Announcing = createAnnouncing({
    async read(keys) {
      return new Map(
        keys.flatMap((key) => (registers.has(key) ? [[key, { value: registers.get(key), etag: '' }]] : [])),
      )
    },
    async replace(key, decide) {
      const value = decide(registers.get(key) as Parameters<typeof decide>[0])
      if (value) registers.set(key, value)
    },
    ...{ flush: async () => {}, report() {}, elapsed: () => clock.elapsed },
  })
  return { announcing, clock, registers }
}

describe('the registers of processes', () => {
  for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
    it(`take no more space after many processes and requests, on ${type}`, async () => {
      const [sidecar, clock] = [new FakeSidecar(type), new Clock()]
      for (let replica = 0; replica < 100; replica += 1) {
        const process = start(sidecar, clock)
        await process.charge(0.1)
        await process.sweep()
      }
      expect(registersIn(sidecar)).to.have.length.at.most(64)
      expect(registersIn(sidecar).filter(([, { keys }]) => keys.length > 0)).to.deep.equal([])
      expect([...sidecar.documents.keys()].filter((key) => !/^(announcing|list|fence)/.test(key))).to.deep.equal([
        `account/${accountId}`,
      ])
    })

    it(`let a process continue whose register another one has taken, on ${type}`, async () => {
      const [sidecar, clock] = [new FakeSidecar(type), new Clock()]
      const [paused, other] = [start(sidecar, clock), start(sidecar, clock)]
      sidecar.failures.publish.push(outage())
      await paused.charge(1).catch(() => {})
      await pass(clock, 40, other.sweep)
      expect(revisionsIn(logOf(sidecar))).to.deep.equal([1])
      await Promise.all([paused.charge(2), other.charge(3)])
      await pass(clock, 100, paused.sweep)
      expect(revisionsIn(logOf(sidecar))).to.deep.equal([1, 2, 3])
      expect(registersIn(sidecar).filter(([, { keys }]) => keys.length > 0)).to.deep.equal([])
    })
  }

  it('refuse a change while other replicas use all of them, and accept it when one is free again', async () => {
    const sidecar = new FakeSidecar()
    const use = (register: number, keys: string[]) =>
      sidecar.set(`announcing/${register}`, { epoch: 1, by: 'other', beat: 1, keys })
    for (let register = 0; register < 64; register += 1) use(register, ['account/1'])
    const process = start(sidecar)
    const refused = await process.charge(1).catch((error: unknown) => error)
    expect(isInfrastructure(refused)).to.equal(true)
    expect(String(refused)).to.contain('other replicas use all 64 registers')
    expect(sidecar.documents.has(`account/${accountId}`)).to.equal(false)
    use(7, [])
    expect((await process.charge(1)).view.balance).to.equal(1)
  })

  it('keep the events of a document that cannot be read, and announce those of the others', async () => {
    const [sidecar, clock] = [new FakeSidecar(), new Clock()]
    const reported: unknown[] = []
    const documents = createDocuments(sidecar, () => new Date(0), false, {
      report: (error) => reported.push(error),
      elapsed: () => clock.elapsed,
    })
    const { announcing } = documents('')
    const visited: string[] = []
    announcing.onVisit('account', async (key) => {
      if (key === 'account/broken') throw new TypeError('a bug')
      visited.push(key)
    })
    const keys = ['account/1', 'account/broken', 'account/with a space', 'tenant/x/account/2']
    await Promise.all(keys.map((key) => during(announcing, key, true, () => Promise.reject(outage())).catch(() => {})))
    await announcing.sweep()
    expect(visited).to.have.members(keys.filter((key) => key !== 'account/broken'))
    expect(reported.map(String)).to.deep.equal(['TypeError: a bug'])
    clock.pass(61_000)
    await announcing.sweep()
    const { length } = visited
    await announcing.sweep()
    expect([visited.length, reported.length]).to.deep.equal([length, 3])
  })

  for (const [name, error] of [
    ['an earlier event of their key failed', new HeldError()],
    ['the store lost writes', new LostWritesError('run the rebuild')],
    ['too many changes were waiting', new OverloadError('10000 items are already waiting')],
  ] as const) {
    it(`accept further changes after 1,000 documents that were not changed because ${name}`, async () => {
      const { announcing } = announcingOf()
      for (let index = 0; index < 1_000; index += 1)
        await during(announcing, `account/${index}`, true, () => Promise.reject(error)).catch(() => {})
      expect(await during(announcing, 'account/one more', true, async () => 1)).to.equal(1)
    })
  }

  it('refuse further changes after 1,000 announcements with an unknown outcome', async () => {
    const { announcing } = announcingOf()
    const uncertain = new UncertainError('It is not known whether the event reached the log.', { cause: outage() })
    for (let index = 0; index < 1_000; index += 1)
      await during(announcing, `account/${index}`, true, () => Promise.reject(uncertain)).catch(() => {})
    const refused = await during(announcing, 'account/one more', true, async () => 1).catch((error: unknown) => error)
    expect(refused).to.have.property('code', 'overload')
  })

  for (const owner of ['a running process', 'an ended process'] as const) {
    it(`announce the events of a working topic in five sweeps, although 200 documents of a broken topic fail, for ${owner}`, async () => {
      const { announcing, clock, registers } = announcingOf()
      const visited = new Set<string>()
      announcing.onVisit('account', async (key) => {
        if (key.startsWith('account/broken')) throw outage()
        visited.add(key)
      })
      const good = Array.from({ length: 10 }, (_, index) => `account/good ${index}`)
      const keys = [...Array.from({ length: 200 }, (_, index) => `account/broken ${index}`), ...good]
      if (owner === 'a running process')
        for (const key of keys) await during(announcing, key, true, () => Promise.reject(outage())).catch(() => {})
      else registers.set('announcing/3', { epoch: 1, by: 'ended', beat: 1, keys })
      // A sweep that fails visits 50 documents. The register of an ended process is taken after 20 s without a change.
      for (let sweep = 0; sweep < 5; sweep += 1) {
        await announcing.sweep()
        if (owner === 'an ended process') await pass(clock, 30, announcing.sweep)
      }
      expect([...visited]).to.have.members(good)
    })
  }

  it('refuse further changes while 1,000 documents wait, and accept them afterwards', async () => {
    let isDown = true
    const announcing: Announcing = createAnnouncing({
      ...{ read: async () => new Map(), replace: async () => {}, flush: async () => {}, report() {} },
      elapsed: () => 0,
    })
    announcing.onVisit('account', async () => {
      if (isDown) throw outage()
    })
    const change = (key: string) =>
      during(announcing, key, true, () => (isDown ? Promise.reject(outage()) : Promise.resolve(1)))
    for (let index = 0; index < 1_000; index += 1) await change(`account/${index}`).catch(() => {})
    const refused = await change('account/one more').catch((error: unknown) => error)
    expect(refused).to.have.property('code', 'overload')
    expect(String(refused)).to.equal(
      'OverloadError: too many changes wait until the store and Kafka answer; nothing more is stored until then',
    )
    isDown = false
    await announcing.sweep()
    expect(await change('account/one more')).to.equal(1)
  })
})

describe('the documents of a process', () => {
  it('stay in the register if a change fails after its events were stored, whatever the error is', async () => {
    const announcing = createAnnouncing({
      ...{ read: async () => new Map(), replace: async () => {}, flush: async () => {}, report() {}, elapsed: () => 0 },
    })
    const stored = { event: { Id: '1' }, mark: '0:1:me' }
    const work = async () => {
      announcing.note('account/1', stored)
      throw new Error('the handler is over')
    }
    await during(announcing, 'account/1', true, work).catch(() => {})
    expect(announcing.isAnnounced('account/1', stored)).to.equal(false)
  })

  it('get their announcements from the next sweep if a request fails while its document is visited', async () => {
    const [sidecar, clock] = [new FakeSidecar(), new Clock()]
    const process = start(sidecar, clock)
    sidecar.failures.publish.push(outage())
    await process.charge(1).catch(() => {})
    const publish = sidecar.publish.bind(sidecar)
    const [sending, answer] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
    sidecar.publish = async (...args) => {
      sidecar.publish = async () => {
        throw outage()
      }
      sending.resolve(undefined)
      await answer.promise
      await publish(...args)
    }
    const sweeping = process.sweep()
    await sending.promise
    const failing = process.charge(2).catch(() => {})
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    answer.resolve(undefined)
    await Promise.all([sweeping, failing])
    sidecar.publish = publish
    for (let turn = 0; turn < 5; turn += 1) {
      clock.pass(1_000)
      await process.sweep()
    }
    expect(revisionsIn(logOf(sidecar))).to.deep.equal([1, 2])
  })

  it('stay hidden from readers if a visit wrote them, but the store never executed the save', async () => {
    const sidecar = new FakeSidecar()
    const process = start(sidecar)
    sidecar.failures.transact.push(outage())
    await process.charge(1).catch(() => {})
    await process.sweep()
    expect(sidecar.documents.get(`account/${accountId}`)?.value).to.have.property('visits', 1)
    expect(await process.get(noTenant, accountId)).to.equal(undefined)
    await process.charge(2)
    expect(await process.get(noTenant, accountId)).to.include({ balance: 2 })
    expect((await process.page(noTenant, { limit: 10, cursor: undefined })).items).to.have.length(1)
  })

  it('stay in the register of an ended process if this process does not have their entity, as an older release', async () => {
    const [sidecar, clock] = [new FakeSidecar(), new Clock()]
    sidecar.set('announcing/3', { epoch: 1, by: 'ended', beat: 1, keys: ['invoice/1'] })
    await pass(clock, 60, start(sidecar, clock).sweep)
    const [, register] = registersIn(sidecar).find(([key]) => key === 'announcing/3') ?? []
    expect(register?.keys).to.deep.equal(['invoice/1'])
  })
})

describe('an entity with many causes', () => {
  it('does not repeat a decision after 999 other causes, and refuses an Idempotency-Key whose result is forgotten', async () => {
    const process = start(new FakeSidecar('state.postgresql'))
    const [first, OrderId] = [event('OrderCancelled'), randomUUID()]
    await process.charge(1, 'key', OrderId)
    await process.react(first)
    for (let others = 0; others < 998; others += 1) await process.react(event('OrderCancelled'))
    const { balance } = await process.state(noTenant, accountId)
    await process.charge(1, 'key', OrderId)
    await process.react(first)
    expect((await process.state(noTenant, accountId)).balance).to.equal(balance)
    await process.react(event('OrderCancelled'))
    const refused = await process.charge(1, 'key', OrderId).catch((error: unknown) => error)
    expect(refused).to.include({ code: 'idempotency-key-reused' })
    expect(String(refused)).to.contain('so long ago that its result is forgotten')
  })
})
