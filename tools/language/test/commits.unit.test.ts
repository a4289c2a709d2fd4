import { expect } from 'chai'
import { messageProblems } from '../commits.ts'

describe('messageProblems', () => {
  for (const subject of [
    'Retry when SQLite is locked',
    '1.2.0',
    'Merge branch main into other',
    'Revert "Add a test"',
  ]) {
    it(`accepts the subject “${subject}”`, async () => {
      expect(await messageProblems(`${subject}\n\nThe reason.`)).to.deep.equal([])
    })
  }

  for (const subject of [
    'Metrics that nobody pays for',
    'Added a test',
    'add a test',
    'A test that starts processes is one of those that do',
    'Add a test.',
    'Fix',
    `Add ${'a very '.repeat(10)}long subject`,
  ]) {
    it(`refuses the subject “${subject}”`, async () => {
      expect(await messageProblems(subject, false)).to.have.lengthOf(1)
    })
  }

  it('refuses a message without a body', async () => {
    expect(await messageProblems('Add a test')).to.deep.equal(['“Add a test”: body may not be empty'])
    expect(await messageProblems('Release 1.2.0')).to.deep.equal([])
  })

  it('refuses a body that follows without an empty line', async () => {
    expect(await messageProblems('Add a test\nThe reason.')).to.have.lengthOf(1)
  })
})
