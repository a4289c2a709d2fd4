import { expect } from 'chai'
import { table } from '../../src/operations/terminal.ts'

describe('table', () => {
  it('makes each column as wide as its widest cell, and removes blanks at the end of a line', () => {
    const rows = [['NAME', 'PORT'], ['a-long-name', '1'], ['b', '65535', 'and more'], []]
    expect(table(rows)).to.deep.equal(['NAME         PORT', 'a-long-name  1', 'b            65535  and more', ''])
  })

  it('shows control characters as text, and keeps the columns aligned', () => {
    const rows = [
      ['\u001b[2J\n', 'x'],
      ['\u202eé', 'y'],
      ['🇨🇭', 'z'],
    ]
    expect(table(rows)).to.deep.equal(['\\u{1b}[2J\\u{a}  x', '\\u{202e}é       y', '🇨🇭               z'])
  })

  it('returns an empty list for an empty list', () => {
    expect(table([])).to.deep.equal([])
  })
})
