import { expect } from 'chai'
import { copyRepository, type RepositoryCopy } from '../support/checkouts/repository-copy.ts'
import { addSchema, publishVersion2, teachOrders, teachPayments } from './versions/release.ts'

/** What the compiler and the tests of a copy of this repository say, step by step. */
describe('the code of a second version of OrderCreated', () => {
  let copy: RepositoryCopy
  before(() => {
    copy = copyRepository()
    return addSchema(copy)
  })
  after(() => copy?.remove())

  /** Only what depends on a changed file is looked at again. */
  const compile = () =>
    copy.run('tsc', ['--noEmit', '--pretty', 'false', '--incremental', '--tsBuildInfoFile', '.stack/types.json'])

  it('compiles and leaves all tests of the services and of the contract true when it is a schema and no more', async () => {
    const tests = ['{envelope-schema,order-service,payment-service}/test', 'packages/service-kit/test/{operations,web}']
    const files = tests.map((folder) => `${folder}/**/*.unit.test.ts`)
    const [compiled, tested] = await Promise.all([compile(), copy.run('mocha', files)])
    expect(compiled.stdout).to.equal('')
    expect(compiled.code).to.equal(0)
    expect(tested.code, failuresIn(tested.stdout)).to.equal(0)
    expect(tested.stdout).to.match(/^[1-9]\d* passed, 0 failed$/m)
  })

  it('does not compile where a receiver takes it for version 1', async () => {
    const file = 'payment-service/src/reactions.ts'
    const [one, both] = ["'OrderCreated@1': charge, ", "'OrderCreated@1': charge, 'OrderCreated@2': charge, "]
    copy.replace(file, one, both)
    const { code, stdout } = await compile()
    copy.replace(file, both, one)
    expect(code, stdout).to.equal(1)
    expect(stdout).to.contain(`${file}(`).and.to.contain(`Type 'FullEvent<"OrderCreated@2">' is not assignable`)
  })

  it('compiles with receivers that take both versions, and then with a publisher of the second', async () => {
    teachPayments(copy)
    teachOrders(copy)
    expect((await compile()).stdout).to.equal('')
    publishVersion2(copy)
    expect((await compile()).stdout).to.equal('')
  })
})

/** What a run of tests says of those that failed. */
const failuresIn = (printed: string) => printed.slice(printed.search(/^ +\d+ failing$/m)).slice(0, 4_000)
