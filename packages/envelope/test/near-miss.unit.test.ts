import { expect } from 'chai'
import fc from 'fast-check'
import { fold, isWithinOneEdit, nearMissIn } from '../src/validation/near-miss.ts'

const names = ['OrderCreated', 'OrderCancelled', 'PaymentApproved']
const nearMiss = nearMissIn(names)

describe('nearMissIn', () => {
  it('finds a name in another case or with other separators', () => {
    for (const name of [
      'orderCreated',
      'ORDER_CREATED',
      'order-created',
      'order.created',
      ' Order Created',
      'O_r-d.er Created',
    ])
      expect(nearMiss(name), name).to.equal('OrderCreated')
  })

  it('finds a name with one typing mistake, in any case', () => {
    for (const name of [
      'OrderCreate',
      'OrdersCreated',
      'OrderCreatet',
      'OrderCraeted',
      'order_crated',
      'OrderCreated\n',
    ])
      expect(nearMiss(name), name).to.equal('OrderCreated')
  })

  it('returns undefined for other names', () => {
    const others = ['', 'Order', 'Created', 'OrderCreat', 'OrderChanged', 'RefundCreated', 'ParcelSent', '__proto__']
    for (const name of others) expect(nearMiss(name), name).to.equal(undefined)
  })

  it('prefers the name that differs only in case', () => {
    expect(nearMissIn(['Invoices', 'Invoice'])('INVOICE')).to.equal('Invoice')
  })

  it('ignores names that are longer than any valid name', () => {
    expect(nearMiss(`OrderCreated${'_'.repeat(188)}`)).to.equal('OrderCreated')
    expect(nearMiss(`OrderCreated${'_'.repeat(189)}`)).to.equal(undefined)
  })

  const known = fc.constantFrom(...names)

  it('finds any name after one edit', () => {
    const edit = fc.record({
      name: known,
      at: fc.nat(20),
      removed: fc.constantFrom(0, 1),
      added: fc.string({ unit: fc.constantFrom(...'abcXYZ_. é\n'), maxLength: 1 }),
    })
    fc.assert(
      fc.property(edit, ({ name, at, removed, added }) => {
        const place = Math.min(at, name.length - 1)
        expect(nearMiss(name.slice(0, place) + added + name.slice(place + removed))).to.equal(name)
      }),
    )
  })

  it('finds any name after a swap of two neighbouring characters', () => {
    fc.assert(
      fc.property(known, fc.nat(20), (name, at) => {
        const place = Math.min(at, name.length - 2)
        expect(nearMiss(name.slice(0, place) + name[place + 1] + name[place] + name.slice(place + 2))).to.equal(name)
      }),
    )
  })

  it('compares ten thousand hostile names of 200 characters in less than two seconds of processor time', () => {
    const hostile = ['_', ' .', '\u0130', 'a', 'Order_', '\ud800'].map((part) => part.repeat(200).slice(0, 200))
    hostile.push(`OrderCreate${'_'.repeat(187)}xy`)
    const started = process.cpuUsage()
    for (let count = 0; count < 10_000; count++) nearMiss(hostile[count % hostile.length] ?? '')
    expect(process.cpuUsage(started).user).to.be.below(2_000_000)
  })
})

describe('isWithinOneEdit', () => {
  it('agrees with the Damerau-Levenshtein distance', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 })
    fc.assert(
      fc.property(text, text, (a, b) => isWithinOneEdit(a, b) === distance(a, b) <= 1),
      { numRuns: 5000 },
    )
  })

  it('returns the same for two names in either order', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => isWithinOneEdit(a, b) === isWithinOneEdit(b, a)))
  })
})

describe('fold', () => {
  it('changes nothing when it is applied to its own result', () => {
    fc.assert(fc.property(fc.string(), (name) => fold(fold(name)) === fold(name)))
  })
})

/** Returns the optimal string alignment distance, by its recursive definition. */
function distance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length
  const [restA, restB] = [a.slice(1), b.slice(1)]
  if (a[0] === b[0]) return distance(restA, restB)
  const swapped = a.length > 1 && b.length > 1 && a[0] === b[1] && a[1] === b[0]
  return (
    1 +
    Math.min(
      distance(restA, b),
      distance(a, restB),
      distance(restA, restB),
      swapped ? distance(a.slice(2), b.slice(2)) : Number.POSITIVE_INFINITY,
    )
  )
}
