import { expect } from 'chai'
import fc from 'fast-check'
import { amountFlaw, currencyCodes, currencyOf } from '../../src/money/money.ts'

const currency = fc.constantFrom(...['EUR', 'USD', 'JPY', 'KWD'].map(currencyOf))

describe('currencyOf and amountFlaw', () => {
  it('uses the decimals of ISO 4217, also where they differ from the data of Node', () => {
    const decimals = (...codes: string[]) => [...new Set(codes.map((code) => currencyOf(code).decimals))]
    expect(decimals('JPY', 'KRW', 'CLP', 'ISK', 'XOF', 'UYI')).to.deep.equal([0])
    expect(decimals('EUR', 'USD', 'XCG', 'HRK', 'SLL')).to.deep.equal([2])
    const differing = 'AFN ALL COP HUF IDR IRR KPW LAK LBP MGA MMK PKR SOS SYP YER'
    expect(decimals(...differing.split(' '))).to.deep.equal([2])
    expect(decimals('KWD', 'BHD', 'TND', 'IQD')).to.deep.equal([3])
    expect(decimals('CLF', 'UYW')).to.deep.equal([4])
  })

  it('accepts the codes with decimals, and refuses others', () => {
    expect(currencyCodes).to.have.length(170)
    expect(currencyCodes).to.deep.equal([...new Set(currencyCodes)].sort())
    expect(() => currencyOf('XAU')).to.throw('XAU is not a currency of ISO 4217; use one of AED, AFN')
    expect(() => currencyOf('eur')).to.throw('eur is not a currency')
  })

  for (const amount of [1e-300, 5e-324, 42.555, 1.005, 0.001, 0.1 + 0.2, 4.35 * 100, 1.1 * 3, 999_999_999_999.999]) {
    it(`rejects ${amount} euros, and suggests a correction`, () => {
      expect(amountFlaw(amount, currencyOf('EUR'))).to.equal(
        'has more decimals than EUR: round it to 2 decimals before you send it',
      )
    })
  }

  for (const amount of [0, -0, 0.01, 42, 42.5, 42.55, 1.1, 999_999_999_999.99, 1e12]) {
    it(`accepts ${Object.is(amount, -0) ? '-0' : amount} euros`, () => {
      expect(amountFlaw(amount, currencyOf('EUR'))).to.equal(undefined)
    })
  }

  it('accepts every whole number of the smallest unit up to 1e12, in any spelling', () => {
    fc.assert(
      fc.property(currency, fc.integer({ min: 0, max: 1e12 }), fc.nat(999), fc.nat(5), (of, whole, part, zeros) => {
        const fraction = of.decimals === 0 ? '' : String(part % 10 ** of.decimals).padStart(of.decimals, '0')
        const text = fraction === '' ? String(whole) : `${whole}.${fraction}${'0'.repeat(zeros)}`
        const amount = JSON.parse(text) as number
        expect(amountFlaw(amount, of)).to.equal(undefined)
        // The number is exact: it is written back as the same decimal.
        const written = fraction === '' ? String(amount) : amount.toFixed(of.decimals)
        expect(written).to.equal(fraction === '' ? text : `${whole}.${fraction}`)
        // An additional zero does not change the number.
        expect(JSON.parse(`${text}${fraction === '' ? '.0' : '0'}`)).to.equal(amount)
      }),
    )
  })

  it('rejects a number with one decimal too many', () => {
    fc.assert(
      fc.property(
        currency,
        fc.integer({ min: 0, max: 1e9 }),
        fc.nat(999),
        fc.integer({ min: 1, max: 9 }),
        (of, whole, part, last) => {
          const fraction = `${String(part % 10 ** of.decimals).padStart(of.decimals, '0')}`.slice(0, of.decimals)
          expect(amountFlaw(Number(`${whole}.${fraction}${last}`), of)).to.be.a('string')
        },
      ),
    )
  })

  it('accepts a number if and only if its text has few enough decimals', () => {
    fc.assert(
      fc.property(currency, fc.double({ min: 0, max: 1e12, noNaN: true }), (of, amount) => {
        const isAmount = amountFlaw(amount, of) === undefined
        expect(isAmount).to.equal(Number(amount.toFixed(of.decimals)) === amount)
      }),
    )
  })
})
