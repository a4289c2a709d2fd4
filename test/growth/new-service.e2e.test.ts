import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { changesIn } from '../support/checkouts/checkout.ts'
import { followDocument, succeeded } from '../support/documents/follow-document.ts'

const name = 'shipping-service'
/** What the finished service may cost in lines, settings and package.json included, schema and tests not. */
const mostLines = 225

describe('docs/new-service.md', () => {
  const reader = followDocument('docs/new-service.md')

  it(`makes a service of at most ${mostLines} lines of code that changes nine files`, async () => {
    const { copy } = reader()
    const { changed, added } = await changesIn(copy)
    const byHand = changed.filter((path) => !path.startsWith('envelope-schema/'))
    expect(byHand).to.have.members([
      '.devcontainer/devcontainer.json',
      'components/trust/publishers.json',
      'docker-compose.postgresql.yml',
      'docker-compose.yml',
      'packages/event-gateway/services.json',
      'packages/event-monitor/services.json',
      'package-lock.json',
      'services.json',
      'packages/cli/observe/prometheus.yml',
    ])
    const own = added.filter((path) => path.startsWith(`${name}/src/`))
    const counts = own.map((path) => readFileSync(join(copy.folder, path), 'utf8').trimEnd().split('\n').length)
    expect(counts.reduce((sum, count) => sum + count)).to.be.within(1, mostLines)
  })

  it('leaves all that needs no stack as well as it was', async () => {
    // What tells of services, or of all events. The kit and the other services do not know of it.
    const tests = ['packages/{envelope,cli}/test/**/*.unit.test.ts']
    const files = [
      ...tests,
      ...['services.unit', 'structure.unit', 'hostile.int'].map((file) => `test/${file}.test.ts`),
    ]
    succeeded(await reader().copy.run('mocha', ['--parallel', '--jobs', '2', ...files]))
  })
})
