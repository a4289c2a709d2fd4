import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildPackages, packPackages } from '@orderflow/packages'
import { expect } from 'chai'
import { changesIn } from '../support/checkouts/checkout.ts'
import { newApplication } from '../support/checkouts/new-application.ts'
import { followSteps, stepsIn } from '../support/documents/follow-document.ts'
import { type Registry, startRegistry } from '../support/programs/registry.ts'

/** The ports of the document have this offset, which derives from the name `hotel`. */
const shownOffset = 10_000

describe('docs/own-application.md', () => {
  const [first, ...steps] = stepsIn('docs/own-application.md')
  const create = (folder: string) => (first?.do === 'run' ? first.script : '').replaceAll('../hotel', folder)
  let registry: Registry
  before(async () => {
    registry = await startRegistry()
    await buildPackages()
    for (const archive of (await packPackages()).values()) await registry.publish(archive)
  })
  after(() => registry?.stop())
  const reader = followSteps(steps, async () => {
    // npm may have cached packages of an earlier registry on the same port.
    const settings = `export REGISTRY=${registry.url} npm_config_prefer_online=true\n`
    const copy = await newApplication('hotel', (folder) => settings + create(folder))
    return { copy, offset: copy.offset - shownOffset, env: {} }
  })

  it('begins with the command that creates the application', () => {
    expect(create('../hotel')).to.match(/^make new-app DIR=/)
  })

  it('leaves a clean repository without the example', async () => {
    const { copy } = reader()
    expect(await changesIn(copy)).to.deep.equal({ changed: [], added: [] })
    expect(readFileSync(join(copy.folder, 'services.json'), 'utf8')).not.to.match(/order(?!flow)|payment/)
    expect(['order-service', 'vendor'].filter((path) => existsSync(join(copy.folder, path)))).to.deep.equal([])
  })
})
