import { setImmediate as nextTurn } from 'node:timers/promises'
import { noTenant } from '@orderflow/envelope'
import { expect } from 'chai'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { accountId, Clock, event, logOf, outage, rebuild, revisionsIn, start } from './account.ts'

const key = `account/${accountId}`

/** Each test repeats a counterexample that tools/docs/model/Entity.tla finds if one of the model's guards is removed. */
for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
  describe(`an entity with concurrent steps from the model, on ${type}`, () => {
    it('a process that lost its register does not write it again (RegisterGuarded)', async () => {
      const sidecar = new FakeSidecar(type)
      const paused = start(sidecar)
      await paused.charge(1)
      const register = [...sidecar.documents.keys()].find((key) => key.startsWith('announcing/')) as string
      // Another process takes the register, and a third one stores an event under it, after the paused process has read it.
      const taken = { epoch: 3, by: 'another process', beat: 1, keys: [`account/${accountId}`] }
      sidecar.beforeWrite = () => {
        sidecar.beforeWrite = () => {}
        sidecar.set(register, taken)
      }
      await paused.sweep()
      expect(sidecar.documents.get(register)?.value).to.deep.equal(taken)
      await paused.charge(2)
      expect(sidecar.documents.get(register)?.value).to.deep.equal(taken)
      expect(revisionsIn(logOf(sidecar))).to.deep.equal([1, 2])
    })

    async function writeLate(isKilled: boolean): Promise<void> {
      const [sidecar, clock] = [new FakeSidecar(type), new Clock()]
      const [slow, other] = [start(sidecar, clock), start(sidecar, clock)]
      const { sent, execute } = delayFirst(sidecar, type === 'state.sqlite' ? 'transact' : 'save')
      const charging = Promise.race([slow.charge(1), slow.killed]).catch(() => {})
      await sent
      if (isKilled) slow.kill()
      for (let second = 0; second < 30; second += 1) {
        await other.sweep()
        clock.pass(1_000)
      }
      // The other process changes the entity between the late write and its announcement.
      if (!isKilled) beforeFirst(sidecar, () => other.react(event('OrderCancelled')))
      execute()
      await charging
      for (let turn = 0; turn < 10; turn += 1) await nextTurn()
      for (let turn = 0; turn < 60; turn += 1) {
        await other.sweep()
        clock.pass(5_000)
      }
      const { revision = 0 } = Object(sidecar.documents.get(`account/${accountId}`)?.value) as { revision?: number }
      expect(revisionsIn(logOf(sidecar))).to.deep.equal(Array.from({ length: revision }, (_, index) => index + 1))
    }

    it('a document that the store writes 30 s late is announced in its sequence, if its process is dead (FenceFirst)', () =>
      writeLate(true))

    it('a document that the store writes 30 s late is announced in its sequence, if its process is slow (FenceFirst)', () =>
      writeLate(false))

    it('a visit changes the document, so the store refuses an earlier write that it executes later (FenceFirst)', async () => {
      const [sidecar, clock] = [new FakeSidecar(type), new Clock()]
      const process = start(sidecar, clock)
      await process.charge(1)
      const before = sidecar.documents.get(key)
      const { late, losing } = losingWrites(sidecar, type === 'state.sqlite' ? 'transact' : 'save')
      await losing(() => process.charge(2).catch(() => {}))
      expect(late).to.not.have.length(0)
      // The store does not answer the first write of the visit either. The stored document is still the one that the visit read.
      await losing(() => process.sweep(), 1)
      for (let second = 0; second < 5; second += 1) {
        clock.pass(1_000)
        await process.sweep()
      }
      expect(sidecar.documents.get(key)?.etag).not.to.equal(before?.etag)
      expect(sidecar.documents.get(key)?.value).to.have.property('visits').that.is.at.least(1)
      for (const write of late) await write()
      for (let turn = 0; turn < 30; turn += 1) {
        clock.pass(5_000)
        await process.sweep()
      }
      expect(revisionsIn(logOf(sidecar))).to.deep.equal([1])
      expect((await process.state(noTenant, accountId)).balance).to.equal(1)
    })

    it('a rebuild adds each event once, in the sequence of the revisions (FoldOnce)', async () => {
      const sidecar = new FakeSidecar(type)
      const process = start(sidecar)
      await process.react(event('OrderCreated', 20))
      await process.react(event('OrderCancelled'))
      await process.charge(3)
      const log = logOf(sidecar)
      expect(log).to.have.length(4)
      const state = await process.state(noTenant, accountId)
      for (const records of [[...log, ...log], log.toReversed(), log.flatMap((one) => [one, one])])
        expect(await rebuild(start(new FakeSidecar(type)), records)).to.deep.equal(state)
    })
  })
}

/** Delays the first write of an account until `execute` is called. */
function delayFirst(sidecar: FakeSidecar, call: 'transact' | 'save') {
  const [sent, executed] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  const next = sidecar[call].bind(sidecar) as (...args: unknown[]) => Promise<void>
  Object.assign(sidecar, {
    async [call](...args: [{ key: string }[], ...unknown[]]) {
      if (args[0].some(({ key }) => key.startsWith('account/'))) {
        Object.assign(sidecar, { [call]: next })
        sent.resolve(undefined)
        await executed.promise
      }
      await next(...args)
    },
  })
  return { sent: sent.promise, execute: () => executed.resolve(undefined) }
}

/** Loses writes of accounts while a work runs, at most `most`. Each lost write can be executed later, where its guards can fail. */
function losingWrites(sidecar: FakeSidecar, call: 'transact' | 'save') {
  const late: (() => Promise<void>)[] = []
  const next = sidecar[call].bind(sidecar) as (...args: unknown[]) => Promise<void>
  async function losing(work: () => Promise<unknown>, most = Number.POSITIVE_INFINITY): Promise<void> {
    let left = most
    Object.assign(sidecar, {
      async [call](...args: [{ key: string }[], ...unknown[]]) {
        if (left === 0 || !args[0].some((write) => write.key === key)) return next(...args)
        left -= 1
        late.push(() => next(...args).catch(() => {}))
        throw outage()
      },
    })
    await work()
    Object.assign(sidecar, { [call]: next })
  }
  return { late, losing }
}

/** Does some work before the first publication. */
function beforeFirst(sidecar: FakeSidecar, work: () => Promise<unknown>): void {
  const publish = sidecar.publish.bind(sidecar)
  sidecar.publish = async (...args) => {
    sidecar.publish = publish
    await work()
    await publish(...args)
  }
}
