import { expect } from 'chai'
import { rebuildCommand } from '../../src/operations/operate.ts'
import { OperationError } from '../../src/operations/terminal.ts'
import { openTrust } from '../support/open-trust.ts'

describe('rebuildCommand', () => {
  /** The tests never connect to this address, because the command checks its arguments first. */
  const options = {
    ...{ app: 'a-service', kafka: { bootstrapBrokers: ['localhost:1'] }, trust: openTrust },
    ...{ refusals: new Set<string>(), rebuildOn: () => ({}), isShared: true },
    documentsOf: () => {
      throw new Error('the command must check its arguments first')
    },
  }
  const refusalOf = async (...args: string[]) => {
    const error = await rebuildCommand(args, options).catch((error: unknown) => error)
    if (error instanceof OperationError) return error.message
    throw error
  }

  it('refuses a day that does not exist', async () => {
    for (const option of ['from', 'to']) {
      expect(await refusalOf(`--${option}`, '2026-11-31T00:00Z')).to.equal(
        `--${option} must be a date-time with an offset, such as 2026-01-31T12:00:00Z; name a day that exists: this month is shorter`,
      )
    }
  })

  it('refuses a time that has no offset, is 24:00 or is a leap second, and explains the format', async () => {
    expect(await refusalOf('--from', '2026-11-21T10:00')).to.match(/add Z or an offset/)
    expect(await refusalOf('--from', '2026-11-21T24:00Z')).to.match(/00:00 of the next day/)
    expect(await refusalOf('--from', '2016-12-31T23:59:60Z')).to.match(/leap second/)
  })

  it('checks the given times before it looks for the topic', async () => {
    expect(await refusalOf('--from', '2026-11-21T10:00Z', '--topic', 'nowhere')).to.match(
      /rebuilds nothing from nowhere/,
    )
  })
})
