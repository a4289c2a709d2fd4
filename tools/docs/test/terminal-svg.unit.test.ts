import { expect } from 'chai'
import { terminalSvg } from '../pictures/terminal-svg.ts'

describe('terminalSvg', () => {
  it('shows each line from its time on, and finally all lines for eight seconds', () => {
    const lines = [0, 1000, 2000].map((at) => ({ at, text: `line ${at}` }))
    const svg = terminalSvg(lines, 'three lines')
    expect(svg).to.contain('class="k1">line 1000</text>').and.contain('k1 10.0s step-end infinite')
    expect(svg).to.contain('@keyframes k1 { 0%, 10.00% { opacity: 0 } 10.00%, 100% { opacity: 1 } }')
  })

  it('keeps colours when it breaks a line', () => {
    const svg = terminalSvg([{ at: 0, text: `${'.'.repeat(110)}\x1b[32mready\x1b[39m now` }], 'a long line')
    expect(svg).to.contain('..<tspan class="green">re</tspan></text>')
    expect(svg).to.contain('><tspan class="green">ady</tspan> now</text>')
  })

  it('breaks a long line after a comma or a space, but not in its indentation', () => {
    const rowsOf = (text: string) =>
      [...terminalSvg([{ at: 0, text }], '').matchAll(/class="k0">(.*)<\/text>/g)].map(([, row]) => row)
    expect(rowsOf(`${'a'.repeat(60)},${'b'.repeat(40)} ${'c'.repeat(40)}`)).to.deep.equal([
      `${'a'.repeat(60)},${'b'.repeat(40)} `,
      'c'.repeat(40),
    ])
    expect(rowsOf(`   ${'d'.repeat(112)}`)).to.deep.equal([`   ${'d'.repeat(109)}`, 'ddd'])
  })

  it('escapes special characters of XML', () => {
    const svg = terminalSvg([{ at: 0, text: '<script>"a" & b' }], '<title>')
    expect(svg).to.contain('&lt;script>&quot;a&quot; &amp; b').and.contain('aria-label="&lt;title>"')
  })
})
