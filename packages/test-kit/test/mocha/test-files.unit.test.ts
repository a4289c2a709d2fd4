import { expect } from 'chai'
import { SelectionError, selectTests } from '../../src/mocha/test-files.ts'

const all = [
  'test/whole.e2e.test.ts',
  'test/orders/flow.acceptance.test.ts',
  'packages/cli/test/commands/demo.unit.test.ts',
  'packages/cli/test/commands/lint.unit.test.ts',
  'order-service/test/order.unit.test.ts',
  'order-service/test/routes.int.test.ts',
  'order-service/test/place.test.ts',
]
const filesOf = (...texts: string[]) => selectTests(all, texts).files

describe('selectTests', () => {
  it('selects all unit tests by default, and treats a file without a kind as one of them', () => {
    expect(filesOf()).to.deep.equal([all[2], all[3], all[4], all[6]])
  })

  it('selects the unit tests whose path contains one of the texts', () => {
    expect(filesOf('commands')).to.deep.equal([all[2], all[3]])
    expect(filesOf('lint', 'order-service')).to.deep.equal([all[3], all[4], all[6]])
    expect(filesOf('place.test.ts')).to.deep.equal([all[6]])
  })

  it('accepts a name without the kind, and a path that begins with `./`', () => {
    expect(filesOf('order.test.ts')).to.deep.equal([all[4]])
    expect(filesOf('./packages/cli/test/commands/demo.unit.test.ts')).to.deep.equal([all[2]])
  })

  it('selects other kinds if the text contains the kind', () => {
    expect(filesOf('routes.int')).to.deep.equal([all[5]])
    expect(filesOf('.e2e')).to.deep.equal([all[0]])
    expect(filesOf('orders/flow.acceptance.test.ts')).to.deep.equal([all[1]])
  })

  it('reports whether all files are unit tests', () => {
    expect([selectTests(all, []).areUnits, selectTests(all, ['demo', 'routes.int']).areUnits]).to.deep.equal([
      true,
      false,
    ])
  })

  const refusalOf = (text: string) => {
    try {
      return filesOf(text).join()
    } catch (error) {
      if (!(error instanceof SelectionError)) throw error
      return [error.message, error.nextStep].join('\n')
    }
  }

  it('refuses a text that no path contains, and lists similar files', () => {
    expect(refusalOf('palce')).to.equal(`no path of a test file contains palce
check the name; similar files are:
  order-service/test/place.test.ts`)
    expect(refusalOf('xyz')).to.equal('no path of a test file contains xyz\ncheck the name')
  })

  it('refuses a text that selects only other kinds without their name', () => {
    expect(refusalOf('routes')).to.equal(`routes selects no unit test, but files of other kinds:
  order-service/test/routes.int.test.ts
add the kind to run them, for example routes.int; such tests start processes`)
  })
})
