import { expect } from 'chai'
import { barsAcross, isRecord, lifelineOf, notesOf, stepsBetween, titleOf } from '../../page/lib/lifeline.ts'
import { scrolledTo, windowOf } from '../../page/lib/rows.ts'
import { aroundConversation, conversation, longConversation, timedConversation } from './support/conversation-sample.ts'

describe('the lifeline', () => {
  const short = conversation()

  it('places the steps below each other, in their order', () => {
    for (const isCompact of [true, false]) {
      const tops = [...lifelineOf(short, 1000, isCompact).tops]
      expect(tops).to.deep.equal(tops.toSorted((one, other) => one - other))
      expect(new Set(tops)).to.have.length(short.steps.length + 1)
    }
  })

  it('shows idle times as lines in the compact form, and as empty space in the wide form', () => {
    const [compact, wide] = [lifelineOf(short, 1000, true), lifelineOf(short, 1000, false)]
    expect([...compact.idle.keys()]).to.deep.equal([2, 5])
    expect(compact.idle).to.deep.equal(wide.idle)
    expect(compact.height).to.be.below(wide.height)
  })

  it('measures times from the first event, even if a clock went backwards', () => {
    const { steps } = short
    const [first, second] = [steps[0], steps[1]]
    if (!first || !second) throw new Error('no steps')
    expect([...lifelineOf({ ...short, steps: [second, first] }, 1000, true).times]).to.deep.equal([45, 0])
  })

  it('keeps enough space for the names of many columns in a narrow window', () => {
    expect(lifelineOf(short, 300, true).columnWidth).to.equal(140)
    expect(lifelineOf(short, 300, true).width).to.be.above(300)
  })

  it('finds the visible steps among 5,000 steps', () => {
    const life = lifelineOf(longConversation(5000), 1000, true)
    const [first, end] = stepsBetween(life, life.tops[2500] ?? 0, (life.tops[2515] ?? 0) - 1)
    expect([first, end]).to.deep.equal([2494, 2521])
    expect(stepsBetween(life, 0, 10)[0]).to.equal(0)
    expect(stepsBetween(life, life.height - 10, life.height + 500)[1]).to.equal(5000)
  })

  it('draws bars that cross the visible part, even if they begin above and end below it', () => {
    const bars = barsAcross(short.steps, 3, 4)
    expect(bars).to.deep.equal([
      { column: 'service:payment-service', from: 2, to: 3 },
      { column: 'service:payment-service', from: 2, to: 4 },
    ])
  })

  it('adds notes about a duplicate, a wrong clock or a missing cause to a step', () => {
    const notes = short.steps.map((step) => notesOf(step).map(({ text }) => text))
    expect(notes[0]?.[0]).to.match(/^the cause .* is not in the index$/)
    expect(notes[4]).to.deep.equal(['duplicate of step 4'])
    expect(notes[6]).to.deep.equal(['the publisher’s clock shows this event 120 ms before its cause'])
    expect(short.steps.map(titleOf).slice(1, 3)).to.deep.equal([
      'dead letter: invalid-payload',
      'edited and replayed: OrderCreated@1',
    ])
  })
})

describe('the lifeline with client and stores', () => {
  it('draws requests and handled events as steps without a record', () => {
    const { steps, columns } = aroundConversation()
    expect(steps.map(titleOf)).to.deep.equal(['request', 'OrderCreated@1', 'handled: OrderCreated@1'])
    expect(steps.map(isRecord)).to.deep.equal([false, true, false])
    const drawn = lifelineOf({ ...conversation(), steps, columns }, 1000, true).columns.map(({ id }) => id)
    for (const { from, to } of steps) expect(drawn).to.include.members([from, to])
  })
})

describe('the lifeline with deadlines', () => {
  it('draws a passed deadline as a step without a record, with its name', () => {
    const { steps, columns } = timedConversation()
    expect(steps.map(titleOf).slice(2)).to.deep.equal([
      'deadline: Reminder',
      'DeadlinePassed@1',
      'request: fire PaymentDue now',
      'DeadlinePassed@1',
    ])
    expect(steps.map(isRecord)).to.deep.equal([false, true, false, true, false, true])
    const drawn = lifelineOf({ ...conversation(), steps, columns }, 1000, true).columns.map(({ id }) => id)
    for (const { from, to } of steps) expect(drawn).to.include.members([from, to])
  })
})

describe('windowOf and scrolledTo', () => {
  it('windowOf returns the visible rows, and a few rows above and below', () => {
    const list = { count: 2000, rowHeight: 30, height: 600 }
    expect(windowOf({ ...list, top: 3000, around: 2 })).to.deep.equal({
      first: 98,
      end: 122,
      before: 2940,
      total: 60_000,
    })
    expect(windowOf({ ...list, top: 0 }).first).to.equal(0)
    expect(windowOf({ ...list, top: 99_999 }).end).to.equal(2000)
    expect(windowOf({ ...list, count: 0, top: 0 })).to.deep.equal({ first: 0, end: 0, before: 0, total: 0 })
  })

  it('scrolledTo scrolls only until the row is completely visible', () => {
    const list = { rowHeight: 30, top: 300, height: 600 }
    expect([scrolledTo(12, list), scrolledTo(5, list), scrolledTo(40, list)]).to.deep.equal([300, 150, 630])
  })
})
