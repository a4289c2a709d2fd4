import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { checkoutOfRepository } from '../support/checkouts/checkout.ts'
import type { RepositoryCopy } from '../support/checkouts/repository-copy.ts'

const author = { GIT_AUTHOR_NAME: 'test', GIT_AUTHOR_EMAIL: 'test@orderflow.example' }
const env = { ...author, GIT_COMMITTER_NAME: 'test', GIT_COMMITTER_EMAIL: 'test@orderflow.example' }

describe('make -C tools version', () => {
  let copy: RepositoryCopy
  before(() => {
    copy = checkoutOfRepository()
  })
  after(() => copy?.remove())

  const version = (number: string) => copy.run('make', ['-s', '-C', 'tools', 'version', `VERSION=${number}`], env)
  const git = async (...args: string[]) => (await copy.run('git', args)).stdout.trim()
  const read = (file: string) => readFileSync(join(copy.folder, file), 'utf8')

  it('refuses an earlier version, and uncommitted changes', async () => {
    expect((await version('0.0.9')).stderr).to.contain('VERSION=0.0.9 is not a version after ')
    const changelog = read('CHANGELOG.md')
    copy.write('CHANGELOG.md', `${changelog}\n`)
    expect((await version('9.0.0')).stderr).to.contain('there are uncommitted changes')
    copy.write('CHANGELOG.md', changelog)
  })

  it('commits and tags the version, and adds it to releases.json', async () => {
    const steps = `### Upgrade steps from ${JSON.parse(read('package.json')).version}\n\n- None.\n`
    copy.write('CHANGELOG.md', read('CHANGELOG.md').replace('\n## Unreleased\n', `\n## Unreleased\n\n${steps}`))
    await copy.run('git', ['commit', '--quiet', '--all', '--message', 'Describe a change'], env)
    const { code, stderr } = await version('9.0.0')
    expect(code, stderr).to.equal(0)
    expect(await git('status', '--porcelain')).to.equal('')
    const [{ commit, date }] = JSON.parse(read('releases.json')).slice(-1)
    expect(await git('rev-parse', 'v9.0.0^{commit}')).to.equal(commit)
    expect(read('CHANGELOG.md')).to.contain(`\n## Unreleased\n\n## 9.0.0 - ${date}\n\n### Upgrade steps from `)
    expect(JSON.parse(read('packages/cli/package.json'))).to.deep.include({ version: '9.0.0' })
    expect(JSON.parse(read('packages/cli/package.json')).dependencies['@orderflow/envelope']).to.equal('9.0.0')
    expect(JSON.parse(read('package-lock.json')).packages['packages/cli'].version).to.equal('9.0.0')
    expect(JSON.parse(read('envelope-schema/asyncapi.json')).info.version).to.equal('9.0.0')
    const upkeep = await copy.run('mocha', ['test/repository/upkeep.unit.test.ts'])
    expect(upkeep.stdout).to.match(/^[1-9]\d* passed, 0 failed$/m)
  })

  it('refuses a version without changes in CHANGELOG.md', async () => {
    expect((await version('9.0.1')).stderr).to.contain('CHANGELOG.md has no unreleased changes')
  })
})
