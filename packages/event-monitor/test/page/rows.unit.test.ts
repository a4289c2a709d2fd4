import { expect } from 'chai'
import { type Line, RowBuffer } from '../../page/lib/rows.ts'
import { rowOf } from './support/sample.ts'

const rows = (from: number, count: number) => Array.from({ length: count }, (_, index) => rowOf(from - index))
const shown = (lines: readonly Line[]) =>
  lines.map((line) => ('row' in line ? Number(line.row.position.offset) - 1000 : `+${line.leftOut}`))

describe('the rows of the live view', () => {
  let buffer: RowBuffer
  beforeEach(() => {
    buffer = new RowBuffer()
  })

  it('lists each row once, newest first', () => {
    buffer.addNewer(rows(3, 3), 0)
    buffer.addNewer(rows(5, 4), 0)
    expect(shown(buffer.lines)).to.deep.equal([5, 4, 3, 2, 1])
  })

  it('adds a note about events that have no row', () => {
    buffer.addNewer(rows(3, 1), 0)
    buffer.addNewer(rows(9, 2), 4)
    expect(shown(buffer.lines)).to.deep.equal([9, 8, '+4', 3])
  })

  it('adds older pages without duplicates', () => {
    buffer.addNewer(rows(9, 3), 0)
    buffer.addOlder(rows(7, 3))
    expect(shown(buffer.lines)).to.deep.equal([9, 8, 7, 6, 5])
    expect(buffer.oldest?.position.offset).to.equal('1005')
  })

  it('drops the oldest of more than 2,000 rows when new rows arrive', () => {
    for (let batch = 1; batch <= 18_000; batch += 300) buffer.addNewer(rows(batch * 20, 20), 80)
    for (let batch = 18_001; batch <= 18_200; batch += 1) buffer.addNewer(rows(batch * 20, 20), 0)
    expect(buffer.lines).to.have.length(2000)
    expect(buffer.lines[0]).to.deep.equal({ row: rowOf(18_200 * 20) })
  })

  it('drops the newest of more than 2,000 rows when an older page arrives', () => {
    buffer.addNewer(rows(9000, 100), 0)
    for (let page = 1; page < 40; page += 1) buffer.addOlder(rows(9000 - page * 100, 100))
    expect(buffer.lines).to.have.length(2000)
    expect(buffer.oldest).to.deep.equal(rowOf(5001))
  })

  it('adds dropped rows again', () => {
    buffer.addNewer(rows(9000, 100), 0)
    for (let page = 1; page < 40; page += 1) buffer.addOlder(rows(9000 - page * 100, 100))
    buffer.addNewer(rows(9000, 1), 0)
    expect(buffer.lines[0]).to.deep.equal({ row: rowOf(9000) })
  })
})
