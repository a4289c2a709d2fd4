import { expect } from 'chai'
import { CliError } from '../../src/base/error.ts'
import { readDryRun } from '../../src/release/platform/operator.ts'

describe('DRY_RUN', () => {
  it('accepts words that mean yes', () => {
    for (const value of ['1', 'yes', 'true']) expect(readDryRun({ DRY_RUN: value }), value).to.equal(true)
  })

  it('accepts words that mean no, and an empty or missing value', () => {
    for (const value of ['0', 'no', 'false', '']) expect(readDryRun({ DRY_RUN: value }), value).to.equal(false)
    expect(readDryRun({})).to.equal(false)
  })

  it('refuses other values, and names a valid one', () => {
    for (const value of ['on', '2', 'yes please', 'constructor']) {
      expect(() => readDryRun({ DRY_RUN: value }), value)
        .to.throw(CliError, `DRY_RUN (${value}) must mean yes or no`)
        .with.property('nextStep')
        .that.includes('DRY_RUN=1')
    }
  })
})
