import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { claimFolder } from '@orderflow/stack/parts'
import { expect } from 'chai'
import { changesIn, checkoutOfRepository } from './support/checkout.ts'
import { followDocument, succeeded } from './support/follow-document.ts'
import { freeOffset } from './support/free-offset.ts'
import type { RepositoryCopy } from './support/repository-copy.ts'

const name = 'shipping-service'
/** What the finished service may cost in lines, settings and package.json included, schema and tests not. */
const mostLines = 225

describe('docs/new-service.md', () => {
  let copy: RepositoryCopy
  let offset: number
  before(async () => {
    copy = checkoutOfRepository()
    // What make up starts goes on when it ends, and must not when this process does.
    await claimFolder(join(copy.folder, '.stack'))
    offset = await freeOffset()
  })
  after(async () => {
    await copy?.run('make', ['down'])
    copy?.remove()
  })

  followDocument('docs/new-service.md', () => ({ copy, offset }))

  it(`makes a service of at most ${mostLines} lines of code that changes seven files`, async () => {
    const { changed, added } = await changesIn(copy)
    const byHand = changed.filter((path) => !path.startsWith('envelope-schema/'))
    expect(byHand).to.have.members([
      '.devcontainer/devcontainer.json',
      'components/trust/publishers.json',
      'docker-compose.postgresql.yml',
      'docker-compose.yml',
      'package-lock.json',
      'services.json',
      'stack/observe/prometheus.yml',
    ])
    const own = added.filter((path) => path.startsWith(`${name}/src/`))
    const counts = own.map((path) => readFileSync(join(copy.folder, path), 'utf8').trimEnd().split('\n').length)
    expect(counts.reduce((sum, count) => sum + count)).to.be.within(1, mostLines)
  })

  it('leaves all that needs no stack as well as it was', async () => {
    // What tells of services, or of all events. The kit and the other services do not know of it.
    const tests = ['{envelope-schema,stack}/test/**/*.unit.test.ts']
    const files = [...tests, ...['services', 'structure', 'hostile'].map((file) => `test/${file}.unit.test.ts`)]
    succeeded(await copy.run('mocha', ['--parallel', '--jobs', '2', ...files]))
  })
})
