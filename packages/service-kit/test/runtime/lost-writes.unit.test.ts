import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { isOutage } from '../../src/sidecar/sidecar.ts'
import { forgetMark, markKey } from '../../src/state/position-mark.ts'
import { approved, ComparedStore, cancelled, created, idOf, rejectedFor, written } from './support/compared-store.ts'

for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
  describe(`createLostWrites on ${type}`, () => {
    let store: ComparedStore
    beforeEach(() => {
      store = new ComparedStore(type)
    })

    it('finds a lost document, remembers the loss, and ends after a rebuild', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('a'))
      const older = store.copy()
      await store.handle(created('b'))
      const complete = store.copy()
      store.restore(older)
      const reason = await store.compare()
      expect(reason).to.match(/such as orderevents\/0\/1.*make rebuild SERVICE=a-service/)
      // Other code, too, must not continue before a rebuild.
      for (const code of ['one', 'other']) expect(await store.compare({ code })).to.equal(reason)
      for (const [key, document] of complete) if (key !== markKey) store.sidecar.documents.set(key, document)
      expect(await store.compare()).to.equal(reason)
      store.sidecar.requireServer(undefined)
      await forgetMark(store.sidecar)
      expect(await store.compare()).to.equal(undefined)
    })

    it('refuses documents in the form of an earlier release and a lost store until a rebuild, but not a new store', async () => {
      expect(await new ComparedStore(type).compare({ form: 'entities 1' })).to.equal(undefined)
      await store.handle(created('a'))
      for (const earlier of [undefined, {}]) {
        expect(await store.compare(earlier)).to.equal(undefined)
        const reason = await store.compare({ form: 'entities 1' })
        expect(reason).to.match(/store has .* form of an earlier release; run make rebuild SERVICE=a-service/)
        await forgetMark(store.sidecar)
      }
      const complete = store.copy()
      store.sidecar.documents.clear()
      const reason = await store.compare({ form: 'entities 1' })
      expect(reason).to.match(/lost its documents, or has .* of an earlier release; run make rebuild SERVICE=a-service/)
      store.restore(complete)
      store.sidecar.requireServer(undefined)
      await forgetMark(store.sidecar, 'entities 1')
      for (let start = 1; start <= 2; start += 1)
        expect(await store.compare({ form: 'entities 1' })).to.equal(undefined)
    })

    it('finds a lost change of a document that still exists', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('a'))
      const older = store.copy()
      await store.handle(cancelled('a'))
      store.restore(older)
      expect(await store.compare()).to.match(/orderevents\/0\/1/)
    })

    for (const hasKeys of [true, false])
      it(`finds a lost replacement of a document among replaced documents, ${hasKeys ? 'with' : 'without'} keys`, async () => {
        store.hasKeys = hasKeys
        expect(await store.compare()).to.equal(undefined)
        await store.handle(rejectedFor('b', 'one'), rejectedFor('b', 'two'))
        await store.handle(rejectedFor('a', 'one'), rejectedFor('a', 'two'))
        const older = store.copy()
        await store.handle(rejectedFor('a', 'three'))
        store.restore(older)
        expect(await store.compare()).to.match(hasKeys ? /orderevents\/0\/2/ : /orderevents\/0\/0/)
      })

    it('ignores events that became dead letters, and finds the loss of the next event', async () => {
      expect(await store.compare()).to.equal(undefined)
      store.rejected.add(created('a'))
      const [value = ''] = store.rejected
      await store.handle(value)
      expect(await store.compare()).to.equal(undefined)
      await store.handle(value, created('b'))
      store.lose('b')
      expect(await store.compare()).to.match(/orderevents\/0\/2/)
    })

    it('finds the loss of an event that a later process accepted after a dead letter, and nothing before the loss', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('a'))
      store.deadLetter(0)
      store.accept(0)
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('b'))
      store.deadLetter(1)
      store.accept(1)
      store.lose('b')
      expect(await store.compare()).to.match(/orderevents\/0\/1/)
    })

    it('finds the loss of an event that only a later process rejected, and nothing before the loss', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('a'))
      store.deadLetter(0, true)
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('b'))
      store.deadLetter(1, true)
      store.lose('b')
      expect(await store.compare()).to.match(/orderevents\/0\/1/)
    })

    it('finds a lost document after a long outage', async () => {
      expect(await store.compare()).to.equal(undefined)
      store.waitMinutes(60)
      await store.handle(created('a'), created('b'))
      store.lose('b')
      expect(await store.compare()).to.match(/orderevents\/0\/1/)
    })

    it('finds a loss although the clock of an earlier replica was ahead', async () => {
      store.waitMinutes(180)
      await store.compare({ code: 'other' })
      await store.handle(created('a'))
      await store.compare()
      store.waitMinutes(-180)
      const one = store.replica()
      await one.compare()
      store.waitMinutes(11)
      await store.handle(created('b'))
      store.lose('b')
      expect(await one.compare()).to.match(/orderevents\/0\/1/)
    })

    it('finds a lost change in a running service whose last event was long ago', async () => {
      const one = store.replica()
      expect(await one.compare()).to.equal(undefined)
      store.waitMinutes(60)
      await store.handle(created('a'))
      const older = store.copy()
      await store.handle(cancelled('a'))
      store.restore(older)
      expect(await one.compare()).to.match(/orderevents\/0\/1/)
    })

    it('finds the loss of an event that the service announced, and nothing for effects that the service leaves out', async () => {
      const announce = (name: string) => store.publish(approved(name, 5), { to: written })
      expect(await store.compare()).to.equal(undefined)
      store.sidecar.set(`payment/${idOf('a')}`, { amount: 5 })
      announce('a')
      expect(await store.compare()).to.equal(undefined)
      announce('b')
      expect(await store.compare()).to.match(/paymentevents\/0\/1/)
    })

    it('lets each replica notice the loss that another one found, and keeps its mark', async () => {
      const [one, other] = [store.replica(), store.replica()]
      for (const each of [one, other]) expect(await each.compare()).to.equal(undefined)
      await store.handle(created('a'))
      await one.remember(true)
      const older = store.copy()
      await store.handle(created('b'))
      await one.remember(true)
      expect(await other.remember(false)).to.equal(undefined)
      store.restore(older)
      const reason = await one.compare()
      expect(await other.remember(true)).to.equal('suspect')
      expect(await other.compare()).to.equal(reason)
      expect(store.mark.lost).to.equal(reason)
    })

    it('finds a loss after which another replica moved the mark', async () => {
      const [one, other] = [store.replica(), store.replica()]
      for (const each of [one, other]) expect(await each.compare()).to.equal(undefined)
      await store.handle(created('a'))
      const older = store.copy()
      await store.handle(created('b'))
      store.restoreOnSameServer(older)
      await store.handle(created('c'))
      expect(await other.remember(true)).to.equal(undefined)
      expect(await one.compare()).to.match(/orderevents\/0\/1/)
    })

    it('suspects an older copy with a mark that only another replica wrote', async () => {
      const [one, other] = [store.replica(), store.replica()]
      for (const each of [one, other]) expect(await each.compare()).to.equal(undefined)
      await store.handle(created('a'))
      await one.remember(true)
      const older = store.copy()
      await store.handle(created('b'))
      await one.remember(true)
      expect(await other.remember(false)).to.equal(undefined)
      store.restoreOnSameServer(older)
      await store.handle(created('c'))
      expect(await other.remember(true)).to.equal('suspect')
    })

    it('finds an emptied store to which another replica has written again', async () => {
      const one = store.replica()
      expect(await one.compare()).to.equal(undefined)
      await store.handle(created('a'))
      await one.remember(true)
      store.sidecar.documents.clear()
      await store.handle(created('b'))
      expect(await one.remember(true)).to.equal('suspect')
      expect(await one.compare()).to.match(/orderevents\/0\/0/)
    })

    it('finds a store that was emptied while a replica wrote its mark', async () => {
      const one = store.replica()
      expect(await one.compare()).to.equal(undefined)
      await store.handle(created('a'))
      await one.remember(true)
      await store.handle(created('b'))
      store.sidecar.beforeWrite = () => {
        store.sidecar.documents.clear()
        store.sidecar.beforeWrite = () => {}
      }
      await one.remember(true).catch(() => {})
      expect(await one.remember(true)).to.equal('suspect')
      expect(await one.compare()).to.match(/orderevents\/0\/0/)
    })

    it('ends with the loss that another replica found meanwhile', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('a'))
      store.sidecar.beforeWrite = () => store.sidecar.set(markKey, { ...store.mark, lost: 'a reason' })
      expect(await store.compare()).to.equal('a reason')
    })

    it('finds the loss in an older copy that replaces the store during the comparison', async () => {
      const one = store.replica()
      expect(await one.compare()).to.equal(undefined)
      await store.handle(created('a'))
      const older = store.copy()
      await store.handle(created('b'))
      await one.remember(true)
      await store.handle(created('c'))
      store.sidecar.beforeWrite = () => {
        store.restoreOnSameServer(older)
        store.sidecar.beforeWrite = () => {}
      }
      expect(await store.compare()).to.match(/orderevents\/0\/1/)
    })

    it('suspects a store whose mark is older than the last one of this replica', async () => {
      const one = store.replica()
      expect(await one.compare()).to.equal(undefined)
      const older = store.copy()
      await store.handle(created('a'))
      await one.remember(true)
      store.restoreOnSameServer(older)
      expect(await one.remember(true)).to.equal('suspect')
      expect(await one.compare()).to.match(/orderevents\/0\/0/)
    })

    if (type === 'state.postgresql') {
      it('refuses writes on a server that was not compared, and suspects it', async () => {
        const one = store.replica()
        expect(await one.compare()).to.equal(undefined)
        store.sidecar.server = 'standby'
        const refused = await store.sidecar.save([{ key: 'a', value: '1' }], randomUUID()).catch((error) => error)
        expect(isOutage(refused)).to.equal(true)
        expect(await one.remember(true)).to.equal('suspect')
        expect(await one.compare()).to.equal(undefined)
        await store.sidecar.save([{ key: 'a', value: '1' }], randomUUID())
      })
    }
  })
}
