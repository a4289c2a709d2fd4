import { expect } from 'chai'
import { table } from '../../src/operations/terminal.ts'

describe('a table', () => {
  it('has columns as wide as their widest cell, with no blanks at a line’s end', () => {
    const rows = [['NAME', 'PORT'], ['a-long-name', '1'], ['b', '65535', 'and more'], []]
    expect(table(rows)).to.deep.equal(['NAME         PORT', 'a-long-name  1', 'b            65535  and more', ''])
  })

  it('shows what would move the cursor, and keeps its columns', () => {
    const rows = [
      ['\u001b[2J\n', 'x'],
      ['\u202eé', 'y'],
      ['🇨🇭', 'z'],
    ]
    expect(table(rows)).to.deep.equal(['\\u{1b}[2J\\u{a}  x', '\\u{202e}é       y', '🇨🇭               z'])
  })

  it('of nothing is nothing', () => {
    expect(table([])).to.deep.equal([])
  })
})
