import { expect } from 'chai'
import { rebuildCommand } from '../../src/operations/operate.ts'
import { OperationError } from '../../src/operations/terminal.ts'
import { SidecarError } from '../../src/sidecar/sidecar.ts'
import { createDocuments } from '../../src/state/documents.ts'
import { FakeLog } from '../../src/testing/fake-log.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { openTrust } from '../support/open-trust.ts'

describe('rebuildCommand', () => {
  /** The tests never connect to this address, because the command checks its arguments first. */
  const options = {
    ...{ app: 'a-service', kafka: { bootstrapBrokers: ['localhost:1'] }, trust: openTrust },
    ...{ refusals: new Set<string>(), rebuildOn: () => ({}), isShared: true },
    documentsOf: () => {
      throw new Error('the command must check its arguments first')
    },
    onRebuilt: async () => {},
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

  /** Runs the command on an empty log. @returns the number of completed rebuilds */
  async function completedBy(args: string[], failures = 0): Promise<number> {
    let [completed, left] = [0, failures]
    async function onRebuilt() {
      if (left-- > 0) throw new SidecarError('save state', 'the store is away')
      completed += 1
    }
    const reactions = { orderevents: {}, paymentevents: {} }
    const documentsOf = createDocuments(new FakeSidecar(), () => new Date())
    const all = { ...options, documentsOf, rebuild: reactions, rebuildOn: () => reactions, onRebuilt }
    const write = process.stdout.write
    process.stdout.write = () => true
    await rebuildCommand(args, all, () => new FakeLog()).finally(() => {
      process.stdout.write = write
    })
    return completed
  }

  it('lets a service use its store after a rebuild up to the end of all topics', async () => {
    for (const args of [[], ['--from', '2026-11-21T10:00Z']]) expect(await completedBy(args)).to.equal(1)
    for (const args of [
      ['--topic', 'orderevents'],
      ['--to', '2026-11-21T10:00Z'],
    ])
      expect(await completedBy(args)).to.equal(0)
  })

  it('tries again if the store fails after a rebuild', async () => {
    expect(await completedBy([], 1)).to.equal(1)
  })
})
