import { createEnvelope, examplePayload, type FullEvent } from '@orderflow/envelope-schema'
import { expect } from 'chai'
import fc from 'fast-check'
import { earlier, type SparePart, sparePartOf } from '../src/domain/spare-part.ts'

const thingId = '7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11'

const eventAt = (at: string) =>
  createEnvelope({
    app: { id: thingId, name: 'a-service' },
    type: 'SomethingHappened',
    creationDate: new Date(at),
    payload: { ...examplePayload('SomethingHappened'), ThingId: thingId },
  }) as FullEvent<'SomethingHappened'>

describe('the document of spare-part-service', () => {
  it('depends only on its event', () => {
    const event = eventAt('2026-11-21T10:00:00Z')
    expect(sparePartOf(event)).to.deep.equal(sparePartOf(event)).and.to.include({ thingId, causationId: event.Id })
  })

  it('stays the same for any order and repetition of events', () => {
    const dates = ['2026-11-21T10:00:00Z', '2026-11-21T10:00:00Z', '2026-11-21T11:00:00Z']
    const [first, ...others] = dates.map((at) => sparePartOf(eventAt(at))) as [SparePart, ...SparePart[]]
    const keep = (all: SparePart[]) => all.reduce(earlier, first)
    const expected = keep(others)
    fc.assert(
      fc.property(fc.array(fc.constantFrom(first, ...others)), (some) => {
        expect(keep([...some, ...others])).to.deep.equal(expected)
      }),
    )
  })
})
