import { expect } from 'chai'
import { markKey } from '../../src/state/position-mark.ts'
import { replayedFrom } from '../../src/stream/log/record.ts'
import { FakeLog } from '../../src/testing/fake-log.ts'
import { UntrustedError } from '../../src/trust/trust.ts'
import { openTrust } from '../support/open-trust.ts'
import {
  approved,
  ComparedStore,
  cancelled,
  created,
  envelope,
  idOf,
  rejectedFor,
  written,
} from './support/compared-store.ts'

for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
  describe(`a comparison of a complete store on ${type}`, () => {
    let store: ComparedStore
    beforeEach(() => {
      store = new ComparedStore(type)
    })

    it('finds nothing after a crash between a write and the next mark', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('a'), cancelled('a'), created('b'))
      expect(store.mark.positions['orderevents/0']).to.equal('0')
      expect(await store.compare()).to.equal(undefined)
      expect(store.mark.positions['orderevents/0']).to.equal('3')
    })

    it('accepts a standby that was behind if it has the effects of all handled events', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('a'))
      const older = store.copy()
      await store.handle(envelope('StockCounted', {}), created('a'))
      store.restore(older)
      expect(await store.compare()).to.equal(undefined)
    })

    it('accepts the store of a version that wrote no mark, and finds an emptied store', async () => {
      await store.handle(created('a'), created('b'))
      const before = store.copy()
      expect(await store.compare({ color: 'red' })).to.equal(undefined)
      store.restore(before)
      store.sidecar.documents.clear()
      expect(await store.compare()).to.match(/lost acknowledged writes, or is another store/)
    })

    it('finds nothing after a release of code that writes other documents, and finds an emptied store', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('a'))
      expect(await store.compare({ code: 'two', color: 'red' })).to.equal(undefined)
      await store.handle(created('b'))
      // In a rolling restart, replicas with both versions write the mark in turn.
      await store.replica().remember(true)
      await store.replica({ code: 'two' }).remember(true)
      await store.handle(created('c'))
      expect(await store.compare({ code: 'two', color: 'red' })).to.equal(undefined)
      store.sidecar.documents.clear()
      expect(await store.compare({ code: 'two', color: 'red' })).to.match(/orderevents/)
    })

    it('finds nothing if the log was created again with the same events', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('a'), created('b'))
      await store.replica().remember(true)
      store.committed = 1
      expect(await store.compare()).to.equal(undefined)
      expect(store.mark.positions['orderevents/0']).to.equal('1')
    })

    it('finds nothing if the process that wrote a dead letter died before the position was committed', async () => {
      expect(await store.compare()).to.equal(undefined)
      store.publish(created('a'))
      store.deadLetter(0)
      expect(await store.compare()).to.equal(undefined)
      store.deadLetter(0)
      store.committed = 1
      expect(await store.compare()).to.equal(undefined)
    })

    it('finds nothing after the replay of an edited event', async () => {
      expect(await store.compare()).to.equal(undefined)
      store.rejected.add(created('a'))
      const [value = ''] = store.rejected
      await store.handle(value, created('a'))
      expect(await store.compare()).to.equal(undefined)
    })

    it('does not compare an event that another replica is handling', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('a'))
      store.publish(created('b'))
      expect(await store.compare()).to.equal(undefined)
      await store.save(created('b'))
      expect(await store.compare()).to.equal(undefined)
      expect(store.mark.positions['orderevents/0']).to.equal('1')
    })

    it('finds nothing while positions are moved back, and while events are handled again', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('a'), cancelled('a'), created('b'))
      const other = store.replica()
      for (const each of [store.replica(), other]) expect(await each.compare()).to.equal(undefined)
      for (store.committed = 1; store.committed <= 3; store.committed += 1) {
        expect(await store.compare()).to.equal(undefined)
        expect(await other.compare()).to.equal(undefined)
      }
    })

    it('finds nothing if the retention deleted events between the mark and the position', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('a'), created('b'), created('c'))
      // The service has forgotten the document, too.
      store.lose('a')
      store.first = 1
      expect(await store.compare()).to.equal(undefined)
      expect(store.mark.positions['orderevents/0']).to.equal('3')
    })

    it('finds nothing if the position is from an earlier topic of the same name, and keeps its mark', async () => {
      await store.handle(created('a'))
      expect(await store.compare()).to.equal(undefined)
      store.waitMinutes(1)
      await store.handle(created('b'), created('c'))
      store.log = new FakeLog()
      for (const name of ['d', 'e']) store.publish(created(name))
      expect(await store.compare()).to.equal(undefined)
      expect(store.mark.positions['orderevents/0']).to.equal('1')
      store.committed = 0
      expect(await store.compare()).to.equal(undefined)
    })

    it('accepts the store of a version that wrote no mark, and ignored the last event', async () => {
      await store.handle(created('a'))
      store.publish(created('b'))
      store.committed = 2
      expect(await store.compare()).to.equal(undefined)
    })

    it('finds nothing if the dead letter of a topic created again names the position of another record', async () => {
      expect(await store.compare()).to.equal(undefined)
      store.deadLetter(0)
      await store.handle(created('a'))
      expect(await store.compare()).to.equal(undefined)
    })

    it('accepts other documents of an older version that writes no mark', async () => {
      const one = { color: 'red' }
      expect(await store.compare(one)).to.equal(undefined)
      await store.replica(one).remember(true)
      store.waitMinutes(11)
      await store.handle(created('a'))
      expect(await store.compare(one)).to.equal(undefined)
    })

    it('does not compare the events of a rolling restart', async () => {
      const next = { code: 'two', color: 'red' }
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('a'))
      // Two replicas with the new code write the mark, while another one still runs the old code.
      for (let replica = 1; replica <= 2; replica += 1) expect(await store.compare(next)).to.equal(undefined)
      await store.handle(created('b'))
      expect(await store.compare(next)).to.equal(undefined)
      store.waitMinutes(1)
      await store.handle(created('c'))
      expect(await store.compare(next)).to.match(/orderevents\/0\/2/)
    })

    it('does not compare the last events of a replica that ended before its next mark in a rolling restart', async () => {
      const next = { code: 'two', color: 'red' }
      const old = store.replica()
      expect(await old.compare()).to.equal(undefined)
      const one = store.replica(next)
      expect(await one.compare()).to.equal(undefined)
      const update = async () => {
        store.waitSeconds(5)
        await one.remember(false)
      }
      // The old replica is without events for two minutes. Then it handles one, and ends.
      for (let seconds = 0; seconds < 120; seconds += 5) {
        await update()
        await old.remember(false)
      }
      await store.handle(created('a'))
      for (let seconds = 0; seconds < 60; seconds += 5) await update()
      expect(await store.compare(next)).to.equal(undefined)
    })

    it('skips the events of a version without marks in a slow rolling upgrade', async () => {
      const next = { code: 'two', color: 'red' }
      await store.handle(created('a'))
      expect(await store.compare(next)).to.equal(undefined)
      store.waitMinutes(2)
      await store.handle(created('b'))
      expect(await store.compare(next)).to.equal(undefined)
    })

    it('begins at the mark of another replica if its own last mark lacks the partition', async () => {
      const [one, other] = [store.replica(), store.replica()]
      store.committed = 5
      for (const each of [one, other]) expect(await each.compare()).to.equal(undefined)
      await store.handle(created('a'))
      await other.remember(true)
      store.lose('a')
      expect(await one.compare()).to.equal(undefined)
    })

    it('accepts a complete store whose mark was removed', async () => {
      const one = store.replica()
      expect(await one.compare()).to.equal(undefined)
      await store.handle(created('a'))
      await one.remember(true)
      store.sidecar.documents.delete(markKey)
      expect(await one.compare()).to.equal(undefined)
    })

    it('accepts a document that later events of the same key replaced', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(rejectedFor('a', 'one'), rejectedFor('a', 'two'))
      await store.handle(rejectedFor('b', 'one'), rejectedFor('b', 'two'))
      expect(await store.compare()).to.equal(undefined)
    })

    it('accepts a document that later events without a key replaced', async () => {
      store.hasKeys = false
      expect(await store.compare()).to.equal(undefined)
      await store.handle(rejectedFor('a', 'one'), rejectedFor('b', 'one'), rejectedFor('a', 'two'))
      expect(await store.compare()).to.equal(undefined)
    })

    it('accepts a document that an event replaced before its position was committed', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(rejectedFor('a', 'one'))
      store.publish(rejectedFor('a', 'two'))
      await store.save(rejectedFor('a', 'two'))
      store.publish(rejectedFor('a', 'three'))
      expect(await store.compare()).to.equal(undefined)
    })

    it('accepts a replaced document if the last event became a dead letter', async () => {
      expect(await store.compare()).to.equal(undefined)
      const three = rejectedFor('a', 'three')
      store.rejected.add(three)
      await store.handle(rejectedFor('a', 'one'), rejectedFor('a', 'two'), three)
      expect(await store.compare()).to.equal(undefined)
    })

    it('ends although other replicas write the mark during each comparison', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('a'))
      store.sidecar.beforeWrite = () => store.sidecar.set(markKey, store.mark)
      expect(await store.compare()).to.equal(undefined)
    })

    it('does not compare the events of other code that wrote the mark', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(envelope('StockCounted', {}))
      await store.replica().remember(true)
      // The new code reacts to an event that the other code ignored.
      store.publish(created('a'))
      store.committed = 2
      expect(await store.compare({ code: 'two' })).to.equal(undefined)
    })

    it('ignores the replay of an edited event in a topic that the service only writes', async () => {
      expect(await store.compare()).to.equal(undefined)
      store.sidecar.set(`payment/${idOf('a')}`, { amount: 5 })
      store.publish(approved('a', 5), { to: written })
      store.publish(approved('a', 1), { to: written, headers: { [replayedFrom]: `${written}/0/0` } })
      expect(await store.compare()).to.equal(undefined)
    })

    it('finds nothing if the trust in a handled event ended', async () => {
      expect(await store.compare()).to.equal(undefined)
      await store.handle(created('a'))
      store.lose('a')
      const requireGenuine = () => {
        throw new UntrustedError('its signature is wrong')
      }
      expect(await store.replica({ trust: { ...openTrust, requireGenuine } }).compare()).to.equal(undefined)
    })
  })
}
