import { noTenant } from '@orderflow/envelope'
import { expect } from 'chai'
import { deadlinesCommand, rebuildCommand } from '../../src/operations/operate.ts'
import { OperationError } from '../../src/operations/terminal.ts'
import { SidecarError } from '../../src/sidecar/sidecar.ts'
import { createDocuments } from '../../src/state/documents.ts'
import { FakeLog } from '../../src/testing/fake-log.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { bill, minuteMs, startBills } from '../entity/bill.ts'
import { openTrust } from '../support/open-trust.ts'

/** The tests never connect to this address. */
const common = {
  ...{ app: 'a-service', kafka: { bootstrapBrokers: ['localhost:1'] } },
  ...{ trust: openTrust, refusals: new Set<string>() },
}

/** Returns the lines that a command prints. */
async function printedBy(run: () => Promise<void>): Promise<string[]> {
  const printed: string[] = []
  const write = process.stdout.write
  process.stdout.write = (text) => printed.push(String(text)) > 0
  await run().finally(() => {
    process.stdout.write = write
  })
  return printed.join('').split('\n').slice(0, -1)
}

describe('rebuildCommand', () => {
  const options = {
    ...{ ...common, rebuildOn: () => ({}), isShared: true },
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
    await printedBy(() => rebuildCommand(args, all, () => new FakeLog()))
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

describe('deadlinesCommand', () => {
  it('reads the log, prints how many entities got new deadlines, and counts bugs', async () => {
    const sidecar = new FakeSidecar()
    const process = startBills(sidecar)
    const [, broken] = [await process.open(30), await process.open(40), await process.open(50)]
    const log = new FakeLog()
    for (const { topic, key, value } of sidecar.published)
      log.append({ topic, key, value: Buffer.from(value).toString() })
    const wrong = (await process.opened.state(noTenant, broken)).due
    const earlier = {
      ...bill,
      deadlines({ due }: typeof bill.initial) {
        if (due === wrong) throw new Error('a bug')
        return { Expiry: due && new Date(Date.parse(due) - minuteMs) }
      },
    } as typeof bill
    const { opened } = startBills(sidecar, undefined, {}, earlier)
    const run = () => printedBy(() => deadlinesCommand([], { ...common, retime: opened.retime }, () => log))
    const bugs = 'paymentevents: invalid, but not dead letters: handler-error 1'
    expect(await run()).to.deep.equal([
      'paymentevents: 0 read, at most 3 to go',
      'paymentevents: 3 read: 2 with new deadlines, 0 unchanged, 0 not needed',
      bugs,
    ])
    expect((await run()).slice(1)).to.deep.equal([
      'paymentevents: 3 read: 0 with new deadlines, 2 unchanged, 0 not needed',
      bugs,
    ])
  })

  it('refuses a service without deadlines', async () => {
    const refusal = await deadlinesCommand([], { ...common, retime: {} }).catch((error: unknown) => error)
    expect(refusal).to.be.instanceOf(OperationError).with.property('message', 'a-service has no deadlines')
  })
})
