import { expect } from 'chai'
import { missingTopics, readArguments } from '../../../src/operations/dead-letters/command.ts'
import { OperationError } from '../../../src/operations/terminal.ts'

describe('the command `dead-letters`', () => {
  it('names each dead-letter topic of the services that does not exist', async () => {
    const services = [['orderevents', 'paymentevents'], ['orderevents'], []].map((consumes) => ({ consumes }))
    const log = (...topics: string[]) => ({ topics: async () => topics })
    expect(await missingTopics(log('orderevents', 'paymentevents.dead'), services)).to.deep.equal([
      'topic orderevents.dead does not exist: a partition of orderevents waits at its first invalid event. Fix: make up, or create the topic in your own Kafka',
    ])
    expect(await missingTopics(log('orderevents.dead', 'paymentevents.dead'), services)).to.deep.equal([])
  })

  it('lists all dead letters by default', () => {
    expect(readArguments([])).to.deep.equal({ command: 'list', what: undefined })
    expect(readArguments(['list', 'a/b'])).to.deep.equal({ command: 'list', what: 'a/b' })
  })

  it('publishes nothing with `--dry-run`, and hides personal data by default', () => {
    expect(readArguments(['show', 'ab'])).to.deep.equal({ command: 'show', what: 'ab', values: false })
    const none = { edit: false, file: undefined, attempt: undefined, contradict: false }
    const replay = { command: 'replay', what: 'all', dryRun: true, ...none }
    expect(readArguments(['replay', 'all', '--dry-run'])).to.deep.equal(replay)
  })

  const yes = ['1', 'yes', 'true', 'TRUE', ' 1 ']
  const no = ['', '0', 'no', 'false', 'No']
  for (const [words, meant] of [
    [yes, true],
    [no, false],
  ] as const) {
    it(`reads ${words.map((word) => `"${word}"`).join(', ')} as ${meant ? 'yes' : 'no'}`, () => {
      for (const word of words) {
        const replay = readArguments(['replay', 'ab', `--dry-run=${word}`, `--edit=${word}`])
        expect(replay).to.include({ dryRun: meant, edit: meant })
        expect(readArguments(['show', 'ab', `--values=${word}`])).to.include({ values: meant })
      }
    })
  }

  const wrong: [args: string[], message: string][] = [
    [['replay'], 'name an id, a group or all'],
    [['show', ''], 'name an id, a group or all'],
    [['fly'], 'unknown command fly'],
    [['--fly'], "Unknown option '--fly'"],
    [['list', 'a', 'b'], 'unexpected argument "b"'],
    [['replay', 'a', '--file'], 'argument missing'],
    [['replay', 'a', '--attempt', 'orderevents'], 'orderevents is not a position'],
    [['replay', 'a', '--dry-run=maybe'], '--dry-run=maybe is neither yes nor no'],
    [['show', 'a', '--values=2'], '--values=2 is neither yes nor no'],
  ]
  for (const [args, message] of wrong) {
    it(`refuses "${args.join(' ')}" and shows the usage`, () => {
      const error = (() => {
        try {
          return readArguments(args)
        } catch (thrown) {
          return thrown
        }
      })()
      expect(error).to.be.instanceOf(OperationError)
      expect((error as OperationError).message).to.contain(message)
      expect((error as OperationError).nextStep).to.contain('dead-letters replay')
    })
  }
})
