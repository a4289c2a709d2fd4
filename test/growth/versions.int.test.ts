import { expect } from 'chai'
import { changesIn, checkoutOfRepository } from '../support/checkouts/checkout.ts'
import type { RepositoryCopy } from '../support/checkouts/repository-copy.ts'
import { addVersion2, adoptVersion2, editedFiles } from './versions/release.ts'

describe('a second version of OrderCreated with one optional field', () => {
  let copy: RepositoryCopy
  let generated: string[]
  before(async () => {
    copy = checkoutOfRepository()
    generated = await addVersion2(copy)
  })
  after(() => copy?.remove())

  const mocha = async (...files: string[]) => {
    // On a CI server, scenarios refuse to add the fields of the new version to reads.json. Developers run them on their machines first.
    const { code, stdout } = await copy.run('mocha', files, { CI: '' })
    expect(code, failuresIn(stdout)).to.equal(0)
    expect(stdout).to.match(/^[1-9]\d* passed, 0 failed$/m)
  }

  it('leaves the API and the published events unchanged until the service names it', async () => {
    await mocha('test/growth/versions/unchanged.ts')
    adoptVersion2(copy)
  })

  it('needs edits by hand in at most three files, and all other changed files are generated', async () => {
    const { changed, added } = await changesIn(copy)
    expect([...changed, ...added].filter((path) => !generated.includes(path))).to.have.members(editedFiles)
    expect(editedFiles).to.have.lengthOf.at.most(3)
  })

  it('passes lint, types and the comparison with the last release', async () => {
    const { code, stdout, stderr } = await copy.run('make', ['-s', 'check', 'AGAINST=HEAD'])
    expect(code, stdout + stderr).to.equal(0)
    expect(stdout).to.contain('events/OrderCreated.2.json: is a new Version: forward to OrderCreated.1.json')
  })

  it('does not break the tests of the contract, the services and the kit', async () => {
    const tests = [
      '{order-service,payment-service,envelope-schema,packages/envelope}/test',
      'packages/service-kit/test/{operations,stream,web}',
    ]
    await mocha(...tests.map((folder) => `${folder}/**/*.unit.test.ts`))
  })

  it('results in orders that are stored, shown and paid like those of version 1', () =>
    mocha('test/growth/versions/note.ts'))
})

const failuresIn = (printed: string) => printed.slice(printed.search(/^ +\d+ failing$/m)).slice(0, 4_000)
