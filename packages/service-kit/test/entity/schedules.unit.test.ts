import { randomUUID } from 'node:crypto'
import { type FullEvent, noTenant } from '@orderflow/envelope'
import { expect } from 'chai'
import fc from 'fast-check'
import { Refused } from '../../src/entity/entity.ts'
import type { SidecarError } from '../../src/sidecar/sidecar.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import {
  type AccountEvent,
  accountId,
  Clock,
  event,
  Killed,
  logOf,
  outage,
  type Process,
  rebuild,
  revisionsIn,
  start,
} from './account.ts'

/** A store and a log whose calls can fail. A failed write may be executed later. */
class FaultySidecar extends FakeSidecar {
  readonly late: (() => Promise<void>)[] = []
  readonly faults: Record<'publish' | 'write', ('lost' | 'done' | 'late')[]> = { publish: [], write: [] }

  override publish(...args: Parameters<FakeSidecar['publish']>): Promise<void> {
    return this.#perhaps('publish', () => super.publish(...args))
  }
  override transact(...args: Parameters<FakeSidecar['transact']>): Promise<void> {
    return this.#perhaps('write', () => super.transact(...args))
  }
  override save(...args: Parameters<FakeSidecar['save']>): Promise<void> {
    return this.#perhaps('write', () => super.save(...args))
  }

  async #perhaps(kind: 'publish' | 'write', call: () => Promise<void>): Promise<void> {
    const fault = this.faults[kind].shift()
    if (fault === undefined) return call()
    if (fault === 'done') await call()
    if (fault === 'late') this.late.push(() => call().catch((_conflict: SidecarError) => {}))
    throw outage()
  }

  async executeLate(): Promise<void> {
    for (const write of this.late.splice(0)) await write()
  }
}

const processOf = fc.integer({ min: 0, max: 1 })
const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('event' as const), process: processOf, cause: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), process: processOf, cause: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('charge' as const), process: processOf }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('keyed' as const), process: processOf, cause: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sweep' as const), process: processOf }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), process: processOf }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), seconds: fc.constantFrom(1, 10, 30, 90) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('step' as const), seconds: fc.constantFrom(-600, 600) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      kind: fc.constantFrom('publish' as const, 'write' as const),
      how: fc.constantFrom('lost' as const, 'done' as const, 'late' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('late' as const) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('turns' as const), count: fc.integer({ min: 1, max: 12 }) }) },
)

/** An event or a request that is repeated until it is handled. */
interface Cause {
  run: (process: Process) => Promise<unknown>
  isBegun: boolean
  isDone: boolean
  isRefused: boolean
  eventId?: string
}

async function schedule(type: string, actions: readonly (typeof action extends fc.Arbitrary<infer A> ? A : never)[]) {
  const [sidecar, clock] = [new FaultySidecar(type), new Clock()]
  const processes = [start(sidecar, clock), start(sidecar, clock)]
  const running = new Set<Promise<void>>()
  const cause = (run: Cause['run'], eventId?: string): Cause => ({
    ...{ run, isBegun: false, isDone: false, isRefused: false },
    ...(eventId !== undefined && { eventId }),
  })
  const ofEvent = (one: AccountEvent) => cause((process) => process.react(one), one.Id)
  const events = [0, 1, 2, 3].map(() => ofEvent(event('OrderCreated')))
  const cancels = [0, 1].map(() => ofEvent(event('OrderCancelled')))
  const keyed = [0, 1].map((key) => {
    const OrderId = randomUUID()
    return cause((process) => process.charge(20, `key-${key}`, OrderId))
  })
  let accepted = 0

  function begin(process: Process, run: () => Promise<void>): void {
    const work = Promise.race([run(), process.killed])
      .catch((error: unknown) => {
        if (!(error instanceof Killed)) throw error
      })
      .finally(() => running.delete(work))
    running.add(work)
  }
  async function handle(one: Cause, process: Process): Promise<void> {
    one.isBegun = true
    try {
      await one.run(process)
      one.isDone = true
    } catch (error) {
      if (error instanceof Refused) Object.assign(one, { isDone: true, isRefused: true })
      else expect(error).to.have.property('code')
    }
  }
  for (const each of actions) {
    const process = processes['process' in each ? each.process : 0] as Process
    if (each.do === 'event') begin(process, () => handle(events[each.cause] as Cause, process))
    if (each.do === 'cancel') begin(process, () => handle(cancels[each.cause] as Cause, process))
    if (each.do === 'keyed') begin(process, () => handle(keyed[each.cause] as Cause, process))
    if (each.do === 'charge')
      begin(process, async () => {
        const isAccepted = await process.charge(1).then(
          () => true,
          () => false,
        )
        if (isAccepted) accepted += 1
      })
    if (each.do === 'sweep') begin(process, () => process.sweep().catch(() => {}))
    if (each.do === 'kill') {
      process.kill()
      processes[each.process] = start(sidecar, clock)
    }
    if (each.do === 'pass') clock.pass(each.seconds * 1_000)
    if (each.do === 'step') clock.wall += each.seconds * 1_000
    if (each.do === 'fail') sidecar.faults[each.kind].push(each.how)
    if (each.do === 'late') await sidecar.executeLate()
    if (each.do === 'turns')
      for (let turn = 0; turn < each.count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all(running)
  sidecar.faults.publish.length = 0
  sidecar.faults.write.length = 0
  await sidecar.executeLate()
  const [last] = processes as [Process, Process]
  for (const one of [...events, ...cancels, ...keyed]) if (one.isBegun && !one.isDone) await handle(one, last)
  for (let turn = 0; turn < 30; turn += 1) {
    for (const process of processes) await process.sweep()
    clock.pass(5_000)
  }
  return { sidecar, last, causes: [...events, ...cancels, ...keyed], accepted }
}

for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
  describe(`two processes of an entity with failures, on ${type}`, () => {
    it('announce each event once, in the sequence of the decisions, and a rebuild gives the same state', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 60 }), async (actions) => {
          const { sidecar, last, causes, accepted } = await schedule(type, actions)
          const log = logOf(sidecar)
          expect(revisionsIn(log)).to.deep.equal(log.map((_, index) => index + 1))
          const live = await last.state(noTenant, accountId)
          expect(await rebuild(start(new FakeSidecar()), log)).to.deep.equal(live)
          const of = (id: string | undefined) => log.filter((one: FullEvent) => one.Headers?.CausationId === id)
          for (const { eventId, isBegun } of causes.filter((one) => one.eventId !== undefined)) {
            const made = of(eventId as unknown as string)
            if (!isBegun) expect(made).to.have.length(0)
            else expect([1, 2]).to.include(made.length)
          }
          const manual = log.filter(({ Payload }) => (Payload as { Source?: string }).Source === 'Manual')
          const charged = manual.filter(({ Payload }) => (Payload as { Amount: number }).Amount === 20)
          const wanted = causes.filter((one) => one.eventId === undefined && one.isDone && !one.isRefused)
          expect(charged).to.have.length(wanted.length)
          expect(manual.length - charged.length).to.be.at.least(accepted)
          expect([...sidecar.documents].filter(([key]) => key.startsWith('announcing/'))).to.satisfy(
            (lanes: [string, { value: { keys: string[] } }][]) =>
              lanes.every(([, { value }]) => value.keys.length === 0),
          )
        }),
        { numRuns: 100 },
      )
    })
  })
}
