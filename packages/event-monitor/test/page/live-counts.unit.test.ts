import { expect } from 'chai'
import { addedTo, grown, plotted, RateWindow, type Strip } from '../../page/lib/live-counts.ts'
import { sampleAnswers } from './support/answers.ts'

describe('the rate chart', () => {
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

  it('ignores events before its start', () => {
    expect(grown(strip, 9000, 4, 0)).to.deep.equal(strip)
  })

  it('shows the number of events per second', () => {
    expect(plotted(strip)).to.deep.equal([
      [10, 15, 20],
      [0.2, 0.4, 0.6],
      [0, 0, 0.2],
    ])
  })
})

describe('RateWindow', () => {
  it('returns the rate of the last five seconds, and null during the first second', () => {
    const window = new RateWindow()
    window.add(0, 500)
    expect(window.perSecond).to.equal(null)
    for (let at = 100; at <= 20_000; at += 100) window.add(at, at > 10_000 ? 100 : 10)
    expect(window.perSecond).to.equal(1000)
  })
})

describe('the facets', () => {
  const { facets } = sampleAnswers()

  it('adds each batch to the counts, and keeps the order of values', () => {
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
