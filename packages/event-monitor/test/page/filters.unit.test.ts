import { expect } from 'chai'
import { chipsOf, filterOf, isChosen, searchOf, toggled } from '../../page/lib/filters.ts'

describe('the filters of the page', () => {
  it('writes a filter to an address, and reads the same filter from this address', () => {
    const filter = {
      topic: ['orderevents', 'a&b=c'],
      name: ['OrderCreated'],
      version: [1, 2],
      validity: ['invalid-payload' as const],
      why: ['/Payload/Total'],
      partition: 0,
      q: 'größer "x"',
      from: '2026-11-23T10:00:00.000Z',
      to: '2026-11-23T11:00:00.000Z',
    }
    expect(filterOf(searchOf(filter))).to.deep.equal(filter)
  })

  it('ignores invalid parts of an address', () => {
    expect(filterOf('?validity=fine&version=x&from=yesterday&partition=-1&topic=&other=1')).to.deep.equal({})
  })

  it('ignores a date that does not exist', () => {
    expect(filterOf('?from=2026-02-30T10:00:00Z&to=2026-11-31T10:00:00Z')).to.deep.equal({})
  })

  it('converts times of all time zones to UTC', () => {
    expect(filterOf('?from=2026-11-23T12:00:00%2B02:00').from).to.equal('2026-11-23T10:00:00.000Z')
  })

  it('writes the same address for any order of clicks', () => {
    const [one, other] = [searchOf({ q: 'a', topic: ['t'] }), searchOf({ topic: ['t'], q: 'a' })]
    expect(one).to.equal(other)
  })

  it('removes only the value that was clicked again', () => {
    const once = toggled({ topic: ['a'] }, 'topic', 'b')
    expect(once).to.deep.equal({ topic: ['a', 'b'] })
    expect(toggled(once, 'topic', 'a')).to.deep.equal({ topic: ['b'] })
    expect(toggled({ topic: ['a'] }, 'topic', 'a')).to.deep.equal({})
  })

  it('replaces the name and version of a type together', () => {
    const first = toggled({}, 'type', 'OrderCreated@1')
    expect(first).to.deep.equal({ name: ['OrderCreated'], version: [1] })
    expect(toggled(first, 'type', 'OrderCreated@2')).to.deep.equal({ name: ['OrderCreated'], version: [2] })
    expect(toggled(first, 'type', 'OrderCreated@1')).to.deep.equal({})
  })

  it('replaces the validity and pointer of a reason together, also for dead letters', () => {
    const pointed = { validity: ['invalid-payload'], why: ['/Payload/Total'] }
    expect(toggled({}, 'why', 'invalid-payload /Payload/Total')).to.deep.equal(pointed)
    expect(toggled({}, 'why', 'conflicting-order')).to.deep.equal({ why: ['conflicting-order'] })
    expect(
      isChosen(filterOf('?validity=invalid-payload&why=/Payload/Total'), 'why', 'invalid-payload /Payload/Total'),
    ).to.equal(true)
    expect(isChosen({}, 'why', 'conflicting-order')).to.equal(false)
  })

  it('returns a label for each part of a filter, with the filter that remains without this part', () => {
    const chips = chipsOf({ topic: ['a', 'b'], q: 'x' })
    expect(chips.map(({ label }) => label)).to.deep.equal(['topic: a', 'topic: b', 'q: x'])
    expect(chips[0]?.without).to.deep.equal({ topic: ['b'], q: 'x' })
    expect(chips[2]?.without).to.deep.equal({ topic: ['a', 'b'] })
  })
})
