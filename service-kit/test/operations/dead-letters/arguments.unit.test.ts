import { expect } from 'chai'
import { readArguments } from '../../../src/operations/dead-letters/arguments.ts'
import { OperationError } from '../../../src/operations/operation-error.ts'

describe('the command dead-letters', () => {
  it('lists when nothing is said', () => {
    expect(readArguments([])).to.deep.equal({ command: 'list', what: undefined })
    expect(readArguments(['list', 'a/b'])).to.deep.equal({ command: 'list', what: 'a/b' })
  })

  it('shows personal data and publishes only when that is said', () => {
    expect(readArguments(['show', 'ab'])).to.deep.equal({ command: 'show', what: 'ab', values: false })
    const resend = { command: 'resend', what: 'all', dryRun: true, edit: false, file: undefined }
    expect(readArguments(['resend', 'all', '--dry-run'])).to.deep.equal(resend)
  })

  const wrong: [args: string[], message: string][] = [
    [['resend'], 'which one?'],
    [['show', ''], 'which one?'],
    [['fly'], 'unknown command fly'],
    [['--fly'], "Unknown option '--fly'"],
    [['list', 'a', 'b'], 'what is "b"?'],
    [['resend', 'a', '--file'], 'argument missing'],
  ]
  for (const [args, message] of wrong) {
    it(`refuses "${args.join(' ')}" with its usage`, () => {
      const error = (() => {
        try {
          return readArguments(args)
        } catch (thrown) {
          return thrown
        }
      })()
      expect(error).to.be.instanceOf(OperationError)
      expect((error as OperationError).message).to.contain(message)
      expect((error as OperationError).nextStep).to.contain('dead-letters resend')
    })
  }
})
