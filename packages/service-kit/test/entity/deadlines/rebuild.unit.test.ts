import { noTenant } from '@orderflow/envelope'
import { expect } from 'chai'
import { openEntity } from '../../../src/entity/open-entity.ts'
import { FakeSidecar } from '../../../src/testing/fake-sidecar.ts'
import { Clock } from '../account.ts'
import { bill, minuteMs, passedIn, startBills } from '../bill.ts'
import { rebuildOf } from '../rebuild.ts'

const rebuild = rebuildOf((context) => openEntity(bill, context))

const armedIn = (sidecar: FakeSidecar): { key: string; name: string }[] =>
  [...sidecar.documents].flatMap(([key, { value }]) =>
    /^due\/\d+\/./.test(key) ? (value as { key: string; name: string }[]) : [],
  )

for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
  describe(`a rebuild of entities with deadlines, on ${type}`, () => {
    let [live, clock] = [new FakeSidecar(type), new Clock()]
    beforeEach(() => {
      ;[live, clock] = [new FakeSidecar(type), new Clock()]
    })

    // AxonFramework#1111: a replay fed old events to sagas, which acted again.
    it('arms each open deadline once, and decides and publishes nothing', async () => {
      const process = startBills(live, clock)
      const ids = await Promise.all(Array.from({ length: 600 }, (_, index) => process.open(10 + index / 10)))
      await process.open(5, ids[0])
      await Promise.all(ids.slice(1, 300).map((id) => process.pay(id)))
      const rebuilt = new FakeSidecar(type)
      await rebuild(live, rebuilt)
      const open = [ids[0], ...ids.slice(300)]
      expect(armedIn(rebuilt).map(({ key }) => key)).to.have.members(open.map((id) => `bill/${id}`))
      expect(rebuilt.published).to.deep.equal([])
      const next = startBills(rebuilt, clock)
      expect(await next.opened.state(noTenant, ids[0] as string)).to.deep.equal(
        await process.opened.state(noTenant, ids[0] as string),
      )
      await next.passing(71 * minuteMs, minuteMs)
      expect(passedIn(rebuilt).map(({ EntityId }) => EntityId)).to.have.members(open)
    })

    it('changes nothing in a complete store, where a fired deadline stays fired', async () => {
      const process = startBills(live, clock)
      const id = await process.open(1)
      await process.passing(2 * minuteMs)
      const before = live.documents.get(`bill/${id}`)?.value
      await rebuild(live, live)
      expect(live.documents.get(`bill/${id}`)?.value).to.deep.equal(before)
      await startBills(live, clock).passing(minuteMs)
      expect(passedIn(live)).to.have.length(1)
    })

    it('adds deadlines to the documents of a release without them', async () => {
      const process = startBills(live, clock)
      const id = await process.open(1)
      const { value } = live.documents.get(`bill/${id}`) as { value: { deadlines?: object } }
      delete value.deadlines
      for (const key of live.documents.keys()) if (key.startsWith('due/')) live.documents.delete(key)
      await rebuild(live, live)
      await startBills(live, clock).passing(2 * minuteMs)
      expect(passedIn(live)).to.have.length(1)
    })
  })
}
