import { expect } from 'chai'
import { addedTo, grown, plotted, RateWindow, type Strip } from '../../page/lib/live-counts.ts'
import { sampleAnswers } from './support/answers.ts'

describe('the rate strip', () => {
  const strip: Strip = { from: 10_000, step: 5000, counts: [1, 2, 3], invalid: [0, 0, 1] }

  it('counts new events in its last bucket', () => {
    expect(grown(strip, 24_999, 10, 2)).to.deep.equal({ ...strip, counts: [1, 2, 13], invalid: [0, 0, 3] })
  })

  it('moves with time, and drops old buckets', () => {
    expect(grown(strip, 25_000, 4, 0)).to.deep.equal({
      from: 15_000,
      step: 5000,
      counts: [2, 3, 4],
      invalid: [0, 1, 0],
    })
    expect(grown(strip, 1_000_000, 4, 0)).to.deep.equal({
      from: 990_000,
      step: 5000,
      counts: [0, 0, 4],
      invalid: [0, 0, 0],
    })
  })

  it('does not count events before its start', () => {
    expect(grown(strip, 9000, 4, 0)).to.deep.equal(strip)
  })

  it('is drawn as events a second', () => {
    expect(plotted(strip)).to.deep.equal([
      [10, 15, 20],
      [0.2, 0.4, 0.6],
      [0, 0, 0.2],
    ])
  })
})

describe('the rate in the line of completeness', () => {
  it('covers the last five seconds, and is unknown during the first second', () => {
    const window = new RateWindow()
    window.add(0, 500)
    expect(window.perSecond).to.equal(null)
    for (let at = 100; at <= 20_000; at += 100) window.add(at, at > 10_000 ? 100 : 10)
    expect(window.perSecond).to.equal(1000)
  })
})

describe('the counts of facets', () => {
  const { facets } = sampleAnswers()

  it('grow with each batch, in the order that they have', () => {
    const added = {
      topic: [
        { value: 'paymentevents', count: 40_000 },
        { value: 'new', count: 2 },
      ],
      type: [],
      publisher: [],
      validity: [],
    }
    const next = addedTo(facets, { added, matched: 40_002 })
    expect(next.topic.map(({ value }) => value)).to.deep.equal([
      'orderevents',
      'paymentevents',
      'orderevents.dead',
      'new',
    ])
    expect(next.topic[1]?.count).to.equal(56_961)
    expect(next.total).to.equal(88_212)
    expect(next.publisher).to.equal(facets.publisher)
  })
})
