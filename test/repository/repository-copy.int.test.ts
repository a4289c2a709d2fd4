import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { expect } from 'chai'
import { copyRepository, type RepositoryCopy } from '../support/checkouts/repository-copy.ts'

describe('a copy of the repository', () => {
  let copy: RepositoryCopy
  before(() => {
    copy = copyRepository()
  })
  after(() => copy?.remove())

  it('contains its own workspaces and links to the installed packages', async () => {
    const found = (name: string) => realpathSync(join(copy.folder, 'node_modules', name))
    expect(found('@orderflow/service-kit')).to.equal(join(copy.folder, 'packages/service-kit'))
    expect(found('express')).to.equal(join(repository, 'node_modules/express'))
    expect((await copy.load<{ repository: string }>('packages/stack/src/base.ts')).repository).to.equal(copy.folder)
  })

  it('leaves out files that git ignores', () => {
    expect(existsSync(join(copy.folder, '.stack'))).to.equal(false)
    expect(existsSync(join(copy.folder, '.mocharc.json'))).to.equal(true)
  })

  it('runs programs of its packages, and returns their exit codes', async () => {
    expect(await copy.run('tsc', ['--version'])).to.include({ code: 0, stderr: '' })
    expect((await copy.run('node', ['-e', 'process.exit(3)'])).code).to.equal(3)
  })

  it('refuses a change whose text occurs never or several times', () => {
    copy.replace('services.json', '"consumersPerReplica": 12', '"consumersPerReplica": 2')
    expect(() => copy.replace('services.json', '"consumersPerReplica": 12', '"consumersPerReplica": 2')).to.throw(
      '0 times, not once',
    )
    expect(() => copy.replace('services.json', '"http"', '"h"')).to.throw(/ [2-9] times, not once/)
  })
})
