import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { changesIn } from '../support/checkouts/checkout.ts'
import { followApplication } from '../support/documents/follow-application.ts'

const document = 'docs/own-application.md'

describe(document, () => {
  const reader = followApplication(document, 'hotel', 10_000)

  it('leaves a clean repository without the example', async () => {
    const { copy } = reader()
    expect(await changesIn(copy)).to.deep.equal({ changed: [], added: [] })
    expect(readFileSync(join(copy.folder, 'services.json'), 'utf8')).not.to.match(/order(?!flow)|payment/)
    expect(['order-service', 'vendor'].filter((path) => existsSync(join(copy.folder, path)))).to.deep.equal([])
  })
})
