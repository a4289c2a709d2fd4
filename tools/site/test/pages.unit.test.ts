import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { anchorsOf } from '@orderflow/test/markdown'
import { expect } from 'chai'
import { linked } from '../links.ts'
import { llmsText } from '../llms.ts'
import { navigation, type Page, pathOf, readPages } from '../pages.ts'
import { referencePages } from '../reference/index.ts'

const linksOf = (text: string) =>
  [
    ...text
      .replaceAll(/```[\s\S]*?```|`[^`]*`/g, '')
      .matchAll(/(!?)\[[^\]]*\]\(([^)\s]+)\)|\b(?:src|poster)="([^"]+)"/g),
  ].map(([, mark, link = '', source = '']) => ({ isPicture: mark !== '' || source !== '', link: link || source }))

describe('the pages of the documentation site', function () {
  this.timeout(60_000)
  let generated: Page[]
  let pages: Page[]
  before(async () => {
    generated = await referencePages()
    pages = readPages(generated)
  })

  it('contains every document and a page for each generated reference', () => {
    const sources = pages.map(({ source }) => source)
    expect(sources).to.include.members(['README.md', 'CHANGELOG.md', 'docs/orders.md', 'docs/adr/README.md'])
    expect(sources).to.include.members(['docs/reference/settings.md', 'tools/packages/signatures/service-kit.md'])
    expect(new Set(sources.map(pathOf)).size).to.equal(pages.length)
  })

  it('links only to pages, pictures and headings of the site', () => {
    const sources = new Set(pages.map(({ source }) => source))
    const texts = new Map(pages.map(({ source, text }) => [`/${pathOf(source)}`, text]))
    const broken = pages.flatMap((page) => {
      const links = linksOf(linked(page, sources)).filter(({ link }) => !/^[a-z]+:/.test(link))
      const isBroken = ({ isPicture, link }: (typeof links)[number]) => {
        if (isPicture) return !existsSync(join(repository, page.source, '..', link))
        const [path = '', anchor = ''] = link.split('#')
        const text = path === '' ? page.text : texts.get(path)
        return text === undefined || (anchor !== '' && !anchorsOf(text).includes(decodeURIComponent(anchor)))
      }
      return links.filter(isBroken).map(({ link }) => `${page.source}: ${link}`)
    })
    expect(broken).to.deep.equal([])
  })

  it('leads from the navigation and from llms.txt to every page except the start page', () => {
    const groups = navigation(pages)
    expect(groups.map(({ text }) => text)).to.include.members(['Tutorials', 'How-to guides', 'Reference', 'Project'])
    const lines = llmsText(pages, groups, '/docs/').match(/^- \[.+?\]\(\/docs\/\S+\.html\)/gm) ?? []
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

  it('describes metrics with their labels, and every operation', () => {
    const text = generated.map((page) => page.text).join('\n')
    expect(text).to.contain('| `orderflow_events_total` | counter | `topic`, `outcome` | Delivered events by outcome.')
    expect(text).to.contain('| `orderflow_consumer_lag_events` | gauge | `group`, `topic`, `partition` |')
    expect(text).to.contain('| `POST /v1/orders/{id}/cancel` | Cancel an order; a paid one is refunded. ')
  })
})

describe('the links of a page', () => {
  const page = { source: 'docs/a.md', title: 'A', description: '' }
  const pages = new Set(['packages/cli/README.md'])
  const textOf = (text: string, sourceUrl?: string) => linked({ ...page, text }, pages, sourceUrl)

  it('leads to pages of the site, also from the folder of a README', () => {
    expect(textOf('[b](../packages/cli/README.md#run) [b](../packages/cli/) [c](#start)')).to.equal(
      '[b](/packages/cli/index.md#run) [b](/packages/cli/index.md) [c](#start)',
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
