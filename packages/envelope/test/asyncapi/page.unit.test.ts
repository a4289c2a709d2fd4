import { expect } from 'chai'
import { asyncApiDocument, asyncApiPage } from '../../src/index.ts'
import { traffic } from '../support/traffic.ts'

const document = asyncApiDocument(traffic)
const page = asyncApiPage(document)

describe('asyncApiPage', () => {
  it('shows each topic, message and field, with examples and with marks for personal fields', () => {
    for (const topic of Object.keys(document.channels)) expect(page).to.contain(`<h2 id="${topic}">`)
    for (const { title, examples } of Object.values(document.components.messages)) {
      expect(page).to.contain(`<h3>${title}</h3>`)
      if (examples) expect(page).to.contain(`aria-label="Copy the example of ${title}"`)
    }
    for (const field of ['CustomerTaxId', 'CustomerName']) {
      const [row] = page.match(new RegExp(`<tr><th scope="row"><code>Payload.${field}<.*`)) ?? []
      expect(row).to.contain('>personal<').and.contain('characters').and.contain('required')
    }
    expect(page).to.match(/<code>Payload\.Total<.*number, 0 to 1000000000000/)
    expect(page).to.match(/<code>AppId<\/code><\/th><td>GUID</)
  })

  it('begins with the name of the application', () => {
    expect(document.info.title).to.equal('shops')
    expect(page).to.contain('<h1>shops: events</h1>')
  })

  it('returns a small page that loads no other files', () => {
    expect(page).not.to.match(/<(link|img|iframe)|\bsrc=|@import|url\(/)
    expect(page).to.contain(`content="default-src 'none'; style-src 'sha256-`)
    expect(page.length).to.be.below(200_000)
  })

  it('escapes the texts of the document', () => {
    const info = { ...document.info, title: `<b>"it's"&` }
    const hostile = asyncApiPage({ ...document, info }, '"><script>')
    expect(hostile).to.contain('&lt;b&gt;&quot;it&#39;s&quot;&amp;').and.contain('href="&quot;&gt;&lt;script&gt;"')
    expect(hostile).not.to.contain('<b>')
  })
})
