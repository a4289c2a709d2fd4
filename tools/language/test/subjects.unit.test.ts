import { expect } from 'chai'
import { wrongSubject } from '../subjects.ts'

describe('wrongSubject', () => {
  for (const subject of [
    'Retry when SQLite is locked',
    '1.2.0',
    'Merge branch main into other',
    'Revert "Add a test"',
  ]) {
    it(`accepts the subject “${subject}”`, async () => {
      expect(await wrongSubject(`${subject}\n\nThe reason.`)).to.deep.equal([])
    })
  }

  for (const subject of [
    'Metrics that nobody pays for',
    'Added a test',
    'add a test',
    'A test that starts processes is one of those that do',
    'Add a test.',
    `Add ${'a very '.repeat(10)}long subject`,
  ]) {
    it(`refuses the subject “${subject}”`, async () => {
      expect(await wrongSubject(subject)).to.have.lengthOf(1)
    })
  }

  it('refuses a body that follows without an empty line', async () => {
    expect(await wrongSubject('Add a test\nThe reason.')).to.have.lengthOf(1)
  })
})
