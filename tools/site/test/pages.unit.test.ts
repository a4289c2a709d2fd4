import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { anchorsOf } from '@orderflow/test/markdown'
import { expect } from 'chai'
import { linked } from '../links.ts'
import { llmsText } from '../llms.ts'
import { navigation } from '../navigation.ts'
import { type Page, pathOf, readPages, tableOfDocuments, targetOf } from '../pages.ts'
import { referencePages } from '../reference/index.ts'

const markdownLinks = (text: string) => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)

describe('the pages of the documentation site', function () {
  this.timeout(60_000)
  let generated: Page[]
  let pages: Page[]
  before(async () => {
    generated = await referencePages()
    pages = readPages(repository, generated)
  })
  const optionsOf = () => ({ root: repository, pages: new Map(pages.map((page) => [page.source, page])) })

  it('contains every document and a page for each generated reference', () => {
    const sources = pages.map(({ source }) => source)
    expect(sources).to.include.members(['README.md', 'CHANGELOG.md', 'docs/orders.md', 'docs/adr/README.md'])
    expect(sources).to.include.members(['docs/reference/settings.md', 'docs/reference/api-service-kit.md'])
    expect(new Set(pages.map(({ path }) => path)).size).to.equal(pages.length)
  })

  it('links only to pages, pictures and headings of the site', () => {
    const texts = new Map(pages.map((page) => [page.path, page.text]))
    const broken = pages.flatMap((page) => {
      const { text, pictures } = linked(page, optionsOf())
      const paths = [...texts.keys(), ...pictures.map(pathOf)]
      return markdownLinks(text.replaceAll(/```[\s\S]*?```|`[^`]*`/g, '')).filter((link) => {
        const target = targetOf(page.path, link)
        if (!target) return false
        const heading = decodeURIComponent(target.anchor)
        return !paths.includes(target.file) || (heading && !anchorsOf(texts.get(target.file) ?? '').includes(heading))
      })
    })
    expect(broken).to.deep.equal([])
  })

  it('leads from the navigation and from llms.txt to every page except the start page', () => {
    const groups = navigation(pages, readFileSync(join(repository, tableOfDocuments), 'utf8'), generated)
    expect(groups.map(({ text }) => text)).to.include.members(['Tutorials', 'How-to guides', 'Reference', 'Project'])
    const lines = llmsText(pages, groups, '/9.0.0/').match(/^- \[.+?\]\(\/9\.0\.0\/\S*\)/gm) ?? []
    expect(new Set(lines).size).to.equal(pages.length - 1)
  })

  it('describes every setting, with its variable, default and meaning', () => {
    const { text = '' } = generated.find(({ title }) => title === 'Settings') ?? {}
    const rows = text.match(/^\| `\w+__\w+` .*$/gm) ?? []
    expect(rows).to.have.length.above(50)
    expect(rows.filter((row) => /\|\s+\|/.test(row))).to.deep.equal([])
    expect(text).to.contain('order-service: `5000`<br>payment-service: `5003`')
    expect(text).to.match(/`Policy__ApproveUpTo` \| number, 0 to 1000000000000 \| `10000` \|/)
    expect(text).to.contain('| `settings` in `services.json` | The currency of all amounts. |')
  })

  it('describes metrics with their labels, alerts with their steps, and every operation and event', () => {
    const text = generated.map((page) => page.text).join('\n')
    expect(text).to.contain('| `orderflow_events_total` | counter | `topic`, `outcome` | Delivered events by outcome.')
    expect(text).to.contain('| `orderflow_consumer_lag_events` | gauge | `group`, `topic`, `partition` |')
    expect(text).to.contain('## DeadLetters\n\n[Steps to take](../observability.md#deadletters)')
    expect(text).to.contain('## POST /v1/orders/{id}/cancel\n')
    expect(text).to.contain('| `CustomerName` | Name | yes | ')
    expect(text).to.contain('### dead-letters\n\n```text\n./orderflow dead-letters [list|show|replay]')
  })
})

describe('the links of a page', () => {
  const page = { source: 'docs/a.md', path: 'a.md', title: 'A', description: '' }
  const other = {
    source: 'packages/cli/README.md',
    path: 'packages/cli/index.md',
    title: 'B',
    description: '',
    text: '',
  }
  const textOf = (text: string, sourceUrl?: string) =>
    linked({ ...page, text }, { root: repository, pages: new Map([[other.source, other]]), sourceUrl }).text

  it('leads to pages of the site, also from the folder of a README', () => {
    expect(textOf('[b](../packages/cli/README.md#run) [b](../packages/cli/)')).to.equal(
      '[b](./packages/cli/index.md#run) [b](./packages/cli/index.md)',
    )
  })

  it('leads to a code host for other files, or becomes code without a code host', () => {
    const text = '[`file`](../services.json) and [the list](../services.json)'
    expect(textOf(text)).to.equal('`file` and the list (`services.json`)')
    expect(textOf(text, 'https://code.example/blob/1')).to.equal(
      '[`file`](https://code.example/blob/1/services.json) and [the list](https://code.example/blob/1/services.json)',
    )
  })

  it('shows a film in place of the picture that leads to it', () => {
    expect(textOf('[![Film: a](pictures/terminal.svg)](pictures/first-order.mp4)')).to.equal(
      '<video controls preload="none" aria-label="Film: a" poster="./pictures/terminal.svg" src="./pictures/first-order.mp4"></video>',
    )
  })

  it('stays unchanged in code and for other hosts', () => {
    const text = '`[a](b.md)` [c](https://c.example)\n\n```md\n[a](b.md)\n```'
    expect(textOf(text)).to.equal(text)
  })

  it('refuses a link to a missing file', () => {
    expect(() => textOf('[b](missing.md)')).to.throw('docs/a.md links to missing.md, which does not exist')
  })
})
