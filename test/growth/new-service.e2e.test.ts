import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { changesIn } from '../support/checkouts/checkout.ts'
import { followDocument, succeeded } from '../support/documents/follow-document.ts'

const name = 'shipping-service'
/** The maximum number of lines in `src/` of the new service. */
const mostLines = 75

describe('docs/new-service.md', () => {
  const reader = followDocument('docs/new-service.md')

  it(`leads to a service of at most ${mostLines} lines of code and to changes in few existing files`, async () => {
    const { copy } = reader()
    const { changed, added } = await changesIn(copy)
    const byHand = changed.filter((path) => !/^(chart|components|envelope-schema)\//.test(path))
    expect(byHand).to.have.members([
      '.devcontainer/devcontainer.json',
      '.run/all-services.run.xml',
      '.vscode/launch.json',
      'docker-compose.brokers.yml',
      'docker-compose.postgresql.yml',
      'docker-compose.yml',
      'package-lock.json',
      'services.json',
    ])
    const own = added.filter((path) => path.startsWith(`${name}/src/`))
    const counts = own.map((path) => readFileSync(join(copy.folder, path), 'utf8').trimEnd().split('\n').length)
    expect(counts.reduce((sum, count) => sum + count)).to.be.within(1, mostLines)
  })

  it('results in a repository that passes the tests that need no stack', async () => {
    // Only these tests depend on the list of services or events.
    const tests = ['packages/{envelope,cli,stack}/test/**/*.unit.test.ts']
    const files = [
      ...tests,
      ...['services/services.unit', 'repository/structure.unit', 'services/hostile.int'].map(
        (file) => `test/${file}.test.ts`,
      ),
    ]
    succeeded(await reader().copy.run('mocha', ['--parallel', '--jobs', '2', ...files]))
  })
})
