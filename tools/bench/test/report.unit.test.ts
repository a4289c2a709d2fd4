import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { expect } from 'chai'
import { type PartName, parts } from '../parts/index.ts'
import { svgOf } from '../report/chart.ts'
import { atLeast, atMost, number } from '../report/findings.ts'
import { markdownOf, markdownTable } from '../report/markdown.ts'
import { chartOf } from '../report/pictures.ts'
import { originOf, pictureSection, sectionIn, withSection } from '../report/section.ts'

describe('a goal', () => {
  it('the goal is reached if the value equals it, and missed if the value is unmeasured', () => {
    expect(atLeast('a', 0.35, 0.35, 2)).to.include({ goal: '>= 0.35', measured: '0.35', reached: true })
    expect(atMost('a', 251, 250)).to.include({ goal: '<= 250', measured: '251', reached: false })
    expect([atLeast('a', Number.NaN, 1).reached, atLeast('a', Infinity, 1).reached]).to.deep.equal([false, false])
  })
})

describe('the format of a number', () => {
  it('separates thousands, limits digits, and shows a dash for an unmeasured value', () => {
    expect([number(12_345.67, 1), number(2), number(Number.NaN)]).to.deep.equal(['12,345.7', '2', '-'])
  })
})

describe('markdownTable', () => {
  it('aligns the columns, with numbers to the right', () => {
    const table = markdownTable({
      head: ['', 'per s'],
      rows: [
        ['orderflow', '7'],
        ['bare', '12,000'],
      ],
    })
    expect(table.split('\n')).to.deep.equal([
      '|           |  per s |',
      '| --------- | -----: |',
      '| orderflow |      7 |',
      '| bare      | 12,000 |',
    ])
  })
})

describe('markdownOf', () => {
  it('shows the tables under their titles, and the missed goals with their measured values', () => {
    const tables = [{ title: 'Medians', head: ['', 'per s'], rows: [['bare', '7']] }]
    const goals = [atLeast('rate', 7, 8), atMost('failed', 0, 0), atMost('p50 ms', 81, 50)]
    const table = 'Medians:\n\n|      | per s |\n| ---- | ----: |\n| bare |     7 |\n'
    expect(markdownOf({ tables, goals })).to.equal(`${table}\nMissed goals:\n\n- rate >= 8 (7)\n- p50 ms <= 50 (81)\n`)
    expect(markdownOf({ tables, goals: [] })).to.equal(table)
  })
})

describe('withSection', () => {
  const document = 'a\n<!-- bench:x -->\nold\n<!-- /bench:x -->\nb\n'

  it('replaces the text between the markers, even after an earlier replacement', () => {
    const once = withSection(document, 'x', 'new')
    expect(once).to.equal('a\n<!-- bench:x -->\nnew\n<!-- /bench:x -->\nb\n')
    expect(withSection(once, 'x', 'new')).to.equal(once)
  })

  it('throws an error that names the missing markers', () => {
    expect(() => withSection(document, 'y', 'new')).to.throw(/add <!-- bench:y --> and <!-- \/bench:y -->/)
  })
})

/** Between two readings, the clock of these tests advances by 20 ms. ECharts then measures texts less exactly. */
function onSlowMachine(): void {
  const real = Date
  before(() => {
    let now = 0
    globalThis.Date = class extends real {
      constructor() {
        now += 20
        super(now)
      }
    } as DateConstructor
  })
  after(() => {
    globalThis.Date = real
  })
}

describe('svgOf', () => {
  onSlowMachine()

  it('returns an SVG document with title, categories and values', () => {
    const series = [{ name: 'requests/s', values: [19_400, 6_612, Number.NaN] }]
    const svg = svgOf({
      title: 'POST',
      unit: 'requests/s',
      categories: ['bare', 'orderflow', 'naive'],
      series,
    })
    expect(svg).to.match(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
    for (const text of ['POST', 'bare', 'orderflow', '19400', '6610']) expect(svg).to.contain(`>${text}<`)
  })
})

describe('chartOf', () => {
  const section = '\n|   | requests/s | ms |\n| - | ---: | -: |\n| bare | 12,000 | 1 |\n| naive | - | 3 |\n\n'

  it('returns the values of a table’s column, and NaN for an unmeasured value', () => {
    const { categories, series } = chartOf('post', section)
    expect({ categories, series }).to.deep.equal({
      categories: ['bare', 'naive'],
      series: [{ name: 'requests/s', values: [12_000, Number.NaN] }],
    })
  })

  it('throws an error that names the missing column', () => {
    expect(() => chartOf('loop', section)).to.throw('the first table of loop has no column “orders/s”')
  })
})

describe('originOf', () => {
  const line = (commit: string, load: string) => `\n2026-11-22, 2 x AMD EPYC; commit ${commit}; load before: ${load}.\n`

  it('returns date and commit, and reports uncommitted changes and a busy machine', () => {
    expect(originOf(line('0536f16', '2.0'))).to.equal('2026-11-22, commit 0536f16.')
    expect(originOf(line('0536f16+', '4.2'))).to.equal(
      '2026-11-22, commit 0536f16 with uncommitted changes; busy (load 4.2).',
    )
  })

  it('throws an error for a section without this line', () => {
    expect(() => originOf('a')).to.throw('the section lacks the line with date, machine, commit and load')
  })
})

const read = (file: string) => readFileSync(join(repository, file), 'utf8')
const [page, findings] = [read('docs/performance.md'), read('docs/performance-findings.md')]

describe('the documents', () => {
  /** Returns the numbers of the first row with this name. */
  function row(part: PartName, name: string): number[] {
    const lines = sectionIn(findings, part).split('\n')
    const found = lines.find((line) => line.startsWith(`| ${name} `))?.split('|') ?? []
    return found.slice(2, -1).map((cell) => Number(cell.replaceAll(',', '')))
  }

  it('state the factors of the tables in the README', () => {
    const [direct = 0] = row('outside', 'direct pipeline')
    const [own = 0] = row('outside', 'orderflow')
    const short = (value: number) => Number(value.toPrecision(2)).toLocaleString('en')
    expect(Math.round(direct / own)).to.equal(3)
    const [, plain = 0, , , validating = 0] = row('compare', 'Spring Kafka')
    const factors = [plain, validating].map((ratio) => (1 / ratio).toFixed(1))
    expect(factors[0]).to.equal('3.0')
    expect(read('README.md'))
      .to.contain(
        `[three times](docs/performance.md#payments-of-outside-events) the events per second (${short(direct)} against ${short(own)} on`,
      )
      .and.contain(
        `[${factors[1]} times](docs/performance.md#compared-with-other-frameworks) the events per second with the same PostgreSQL (three times`,
      )
  })
})

describe('docs/performance.md', () => {
  onSlowMachine()

  const textsIn = (svg: string) => [...svg.matchAll(/>([^<>]+)<\/text>/g)].map(([, text]) => text)

  // The deadlines have no published measurement yet.
  const published = (Object.keys(parts) as PartName[]).filter((part) => part !== 'deadlines')
  for (const part of published) {
    it(`shows the tables, date and commit of docs/performance-findings.md: ${part}`, () => {
      expect(sectionIn(page, part).trim()).to.equal(pictureSection(part, findings).trim())
      expect(textsIn(read(`docs/performance/${part}.svg`))).to.deep.equal(
        textsIn(svgOf(chartOf(part, sectionIn(findings, part)))),
      )
    })
  }
})
