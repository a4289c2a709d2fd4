import { expect } from 'chai'
import { copyRepository, type RepositoryCopy } from './support/repository-copy.ts'
import { addSchema, publishVersion2, teachOrders, teachPayments } from './versions/release.ts'

/** What the compiler and the tests of a copy of this repository say, step by step. */
describe('the code of a second version of OrderCreated', function () {
  this.timeout(120_000)
  let copy: RepositoryCopy
  before(() => {
    copy = copyRepository()
    return addSchema(copy)
  })
  after(() => copy?.remove())

  it('compiles and leaves all tests of the services and of the contract true when it is a schema and no more', async () => {
    expect(await copy.run('tsc', ['--noEmit'])).to.include({ code: 0, stdout: '' })
    const tests = ['{envelope-schema,order-service,payment-service}/test', 'service-kit/test/{operations,web}']
    const { code, stdout } = await copy.run(
      'mocha',
      tests.map((folder) => `${folder}/**/*.unit.test.ts`),
    )
    expect(code, stdout).to.equal(0)
  })

  it('does not compile where a receiver takes it for version 1', async () => {
    const file = 'payment-service/src/reactions.ts'
    const [one, both] = ["'OrderCreated@1': charge, ", "'OrderCreated@1': charge, 'OrderCreated@2': charge, "]
    copy.replace(file, one, both)
    const { code, stdout } = await copy.run('tsc', ['--noEmit'])
    copy.replace(file, both, one)
    expect(code, stdout).to.equal(1)
    expect(stdout).to.contain(`${file}(`).and.to.contain(`Type 'FullEvent<"OrderCreated@2">' is not assignable`)
  })

  it('compiles with receivers that take both versions, and then with a publisher of the second', async () => {
    teachPayments(copy)
    teachOrders(copy)
    expect(await copy.run('tsc', ['--noEmit'])).to.include({ code: 0, stdout: '' })
    publishVersion2(copy)
    expect(await copy.run('tsc', ['--noEmit'])).to.include({ code: 0, stdout: '' })
  })
})
