import { randomUUID } from 'node:crypto'
import type { Tenant } from '@orderflow/envelope'
import { expect } from 'chai'
import { deadlineRoutes } from '../../src/entity/deadline-routes.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { problemOf } from '../../src/web/problems.ts'
import { Clock, handlerIn, Killed, logOf, outage } from './account.ts'
import { broken, firedIn, minuteMs, passedIn, startBills } from './bill.ts'

type Bills = ReturnType<typeof startBills>
type Body = Record<string, unknown> & Record<'items' | 'counts', Record<string, unknown>[]>
interface Sent {
  method?: 'get' | 'post'
  path?: string
  query?: object
  id?: string
  body?: object
  tenant?: Tenant
}

/** Sends a request to the operators' routes of a process. Returns the code of a refusal as `problem`. */
async function send({ opened, context }: Bills, { method = 'get', path = '', query = {}, id, body, tenant }: Sent) {
  const routes = deadlineRoutes([opened as never], context)
  const wanted = routes.find(
    ({ operation }) => operation.method === method && operation.path === `/v1/deadlines${path}`,
  )
  const answer = { status: 0, body: {} as Body, problem: undefined as string | undefined }
  const caller = tenant && { id: 'key:1', key: 'ada', scopes: new Set(), tenant }
  const response = {
    locals: { caller },
    status(status: number) {
      answer.status = status
      return response
    },
    json(sent: Body) {
      answer.body = sent
    },
  }
  try {
    await wanted?.handle({ query, params: { entityId: id }, body } as never, response as never)
  } catch (error) {
    const { status, code } = problemOf(error, {}, context.log.mask)
    if (status === 500) throw error
    Object.assign(answer, { status, problem: code })
  }
  return answer
}

const list = async (process: Bills, limit = 20, tenant?: Tenant) =>
  (await send(process, { query: { limit: String(limit) }, ...(tenant && { tenant }) })).body
const openOf = (process: Bills, id: string, tenant?: Tenant) =>
  send(process, { path: '/{entityId}', id, ...(tenant && { tenant }) })

/** Fires the first open deadline of a bill. */
async function fireNow(process: Bills, id: string, over: object = {}, tenant?: Tenant) {
  const [{ deadline = 'Expiry', due = new Date().toISOString() } = {}] =
    (await openOf(process, id, tenant)).body.items ?? []
  const body = { entity: 'bill', deadline, due, ...over }
  return send(process, { method: 'post', path: '/{entityId}/fire', id, body, ...(tenant && { tenant }) })
}

const acme = { id: 'acme', userId: 'ada' }

for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
  describe(`the list of open deadlines, on ${type}`, () => {
    let [sidecar, clock] = [new FakeSidecar(), new Clock()]
    beforeEach(() => {
      ;[sidecar, clock] = [new FakeSidecar(type), new Clock()]
      broken.clear()
    })
    const start = () => startBills(sidecar, clock)

    it('counts the deadlines of all processes by the time at which they pass', async () => {
      const [process, other] = [start(), start()]
      const ids = [await process.open(5), await other.open(50)]
      ids.push(await process.open(90), await other.open(40 * 24 * 60))
      await process.pay(ids[2] as string)
      clock.pass(6 * minuteMs)
      const { counts, items, isWhole, now, hold, unhandled, checked } = await list(process)
      expect(counts).to.deep.equal([
        { entity: 'bill', deadline: 'Expiry', overdue: 1, nextHour: 1, nextDay: 1, later: 1 },
      ])
      expect([isWhole, now, hold, unhandled, checked]).to.deep.equal([
        true,
        new Date(clock.log).toISOString(),
        null,
        0,
        4,
      ])
      expect(items.map(({ id }) => id)).to.deep.equal([ids[0], ids[1], ids[3]])
      expect(items[1]).to.deep.equal({
        ...{ entity: 'bill', id: ids[1], deadline: 'Expiry', isFired: false, delayedBy: null },
        due: new Date(clock.log + 44 * minuteMs).toISOString(),
      })
    })

    it('gives the reason for which an overdue deadline has not passed', async () => {
      const process = start()
      await process.open(1)
      const reason = async (asked = process) => (await list(asked)).items[0]?.delayedBy
      expect(await reason()).to.equal(null)
      clock.pass(2 * minuteMs)
      expect(await reason()).to.equal('firing')
      clock.lag = 1_001
      expect(await reason()).to.equal('lag')
      expect(await list(process)).to.include({ hold: 'lag', unhandled: 1_001 })
      const time = clock.log
      Object.defineProperty(clock, 'log', { value: undefined, configurable: true })
      expect(await reason()).to.equal('clock')
      Object.defineProperty(clock, 'log', { value: time })
      clock.lag = 0
      await process.firing.leave()
      expect(await reason()).to.equal('takeover')
    })

    it('reports a process that has ended before another one takes its deadlines', async () => {
      const [first, second] = [start(), start()]
      await first.open(1)
      await second.open(60)
      await second.fire()
      first.kill()
      clock.pass(9_000)
      await second.fire()
      clock.pass(minuteMs)
      expect((await list(second)).items[0]?.delayedBy).to.equal('takeover')
    })

    it('reports a deadline that could not be fired', async () => {
      const process = start()
      await process.open(1)
      clock.pass(2 * minuteMs)
      process.firing.onDue('bill', async () => {
        throw new Error('a bug')
      })
      await process.fire()
      expect(process.problems).to.have.length(1)
      expect((await list(process)).items[0]?.delayedBy).to.equal('retry')
    })

    it('reports a deadline whose event was not decided, while the index still has it', async () => {
      const process = start()
      const id = await process.open(5)
      await fireNow(process, id)
      expect((await list(process)).items).to.deep.include.members([
        { ...((await openOf(process, id)).body.items[0] as object), delayedBy: 'undecided' },
      ])
      await process.decide()
      const { items, counts } = await list(process)
      expect(items).to.deep.equal([])
      expect(counts[0]).to.include({ nextHour: 1 })
    })

    it('contains only deadlines of the caller’s tenant', async () => {
      const process = start()
      const [own, other] = [await process.open(5, undefined, acme), await process.open(6)]
      for (const [tenant, id, hidden] of [
        [acme, own, other],
        [undefined, other, own],
      ] as const) {
        const { items, counts } = await list(process, 20, tenant)
        expect(items.map((item) => item.id)).to.deep.equal([id])
        expect(counts[0]).to.include({ nextHour: 1 })
        expect((await openOf(process, id, tenant)).body.items).to.have.length(1)
        expect(await openOf(process, hidden, tenant)).to.include({ status: 404, problem: 'not-found' })
        const [{ due = '' } = {}] = (await openOf(process, hidden, tenant ? undefined : acme)).body.items
        expect(await fireNow(process, hidden, { due }, tenant)).to.include({ status: 409, problem: 'deadline-ended' })
      }
      expect(passedIn(sidecar)).to.deep.equal([])
    })
  })
}

describe('a long list of open deadlines', () => {
  it('ends at its limit, and at the largest number of compared entities', async () => {
    const [sidecar, clock] = [new FakeSidecar(), new Clock()]
    const process = startBills(sidecar, clock)
    const ids = await Promise.all(Array.from({ length: 30 }, (_, index) => process.open(10 + index)))
    expect((await list(process)).items.map(({ id }) => id)).to.deep.equal(ids.slice(0, 20))
    expect((await list(process, 3)).items).to.have.length(3)
    for (const limit of ['0', '101', 'many'])
      expect(await send(process, { query: { limit } })).to.include({ status: 400, problem: 'invalid-request' })
    const entries = Array.from({ length: 25_000 }, (_, index) => ({
      key: `bill/${index}`,
      name: 'Expiry',
      at: clock.log,
    }))
    const place = `7/m:${Math.floor(clock.log / minuteMs)}`
    sidecar.set('due/7', { by: '', beat: 1, buckets: { [place]: [1, 2] } })
    sidecar.set(`due/${place}/1`, entries)
    const { items, checked, isWhole, counts } = await list(process)
    expect([items.length, checked, isWhole]).to.deep.equal([0, 2_000, true])
    expect(counts[0]).to.include({ overdue: 25_000 })
    sidecar.set('due/7', { by: '', beat: 1, buckets: { [place]: [1, 102] } })
    expect(await list(process)).to.include({ isWhole: false })
  })
})

for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
  describe(`a deadline that an operator lets pass before its time, on ${type}`, () => {
    let [sidecar, clock] = [new FakeSidecar(), new Clock()]
    beforeEach(() => {
      ;[sidecar, clock] = [new FakeSidecar(type), new Clock()]
      broken.clear()
    })
    const start = () => startBills(sidecar, clock)

    it('takes effect at the time of its event, and does not pass again', async () => {
      const process = start()
      const id = await process.open(30)
      clock.pass(minuteMs)
      const at = new Date(clock.log).toISOString()
      const answer = await fireNow(process, id)
      expect(answer.status).to.equal(202)
      expect(answer.body.items).to.deep.include.members([
        {
          entity: 'bill',
          id,
          deadline: 'Expiry',
          due: new Date(clock.log + 29 * minuteMs).toISOString(),
          isFired: true,
        },
      ])
      const [event] = firedIn(sidecar)
      expect(event?.CreationDate).to.equal(at)
      expect(event?.Payload).to.deep.equal({
        ...{ Entity: 'bill', EntityId: id, Deadline: 'Expiry' },
        Due: new Date(clock.log + 29 * minuteMs).toISOString(),
      })
      expect(process.records.map(({ msg }) => msg)).to.include('a caller lets a deadline pass now')
      await process.decide()
      expect(await process.status(id)).to.equal('expired')
      expect(logOf(sidecar).at(-1)?.CreationDate).to.equal(at)
      await process.passing(40 * minuteMs)
      expect(firedIn(sidecar)).to.have.length(1)
    })

    it('gets an event with another Id than at its time, and at each time', async () => {
      const firedAt = async (minutes: number) => {
        const [store, time] = [new FakeSidecar(type), new Clock()]
        const process = startBills(store, time)
        const id = await process.open(30, '7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11')
        if (minutes < 30) {
          time.pass(minutes * minuteMs)
          await fireNow(process, id)
        } else await process.passing((minutes + 1) * minuteMs)
        return firedIn(store)[0]?.Id
      }
      const ids = [await firedAt(1), await firedAt(2), await firedAt(30)]
      expect(new Set(ids).size).to.equal(3)
      expect(await firedAt(1)).to.equal(ids[0])
    })

    it('passes as at its time if it is overdue', async () => {
      const process = start()
      const id = await process.open(1)
      const backup = new Map([...sidecar.documents].map(([key, document]) => [key, structuredClone(document)]))
      clock.pass(2 * minuteMs)
      await fireNow(process, id)
      sidecar.documents.clear()
      for (const [key, document] of backup) sidecar.documents.set(key, document)
      await start().passing(minuteMs)
      const [one, other] = firedIn(sidecar)
      expect(other).to.deep.equal(one)
    })

    it('passes once if several operators ask for it', async () => {
      const [first, second] = [start(), start()]
      const id = await first.open(30)
      const answers = await Promise.all([first, second, first, second].map((process) => fireNow(process, id)))
      expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([202, 409, 409, 409])
      expect(answers.flatMap(({ problem }) => problem ?? [])).to.deep.equal(Array(3).fill('deadline-fired'))
      expect(firedIn(sidecar)).to.have.length(1)
    })

    it('refuses a deadline that has ended or moved, and an unknown entity', async () => {
      const process = start()
      const id = await process.open(30)
      const { due } = (await openOf(process, id)).body.items[0] as { due: string }
      await process.open(40, id)
      expect(await fireNow(process, id, { due })).to.include({ status: 409, problem: 'deadline-ended' })
      expect(await fireNow(process, id, { deadline: 'Reminder' })).to.include({ problem: 'deadline-ended' })
      expect(await fireNow(process, id, { entity: 'order' })).to.include({ status: 404, problem: 'not-found' })
      expect(await fireNow(process, randomUUID())).to.include({ problem: 'deadline-ended' })
      await process.pay(id)
      expect(await fireNow(process, id, { due })).to.include({ problem: 'deadline-ended' })
      expect(passedIn(sidecar)).to.deep.equal([])
    })

    it('passes later if Kafka does not answer', async () => {
      const process = start()
      const id = await process.open(30)
      sidecar.failures.publish.push(outage(), outage(), outage())
      expect(await fireNow(process, id)).to.include({ status: 503, problem: 'unavailable' })
      await process.passing(minuteMs)
      expect(firedIn(sidecar)).to.have.length(1)
      expect(await fireNow(process, id)).to.include({ problem: 'deadline-fired' })
    })

    it('passes once with one content, whichever call is the last one of its process', async () => {
      for (const isAfter of [false, true]) {
        for (let killAt = 1; ; killAt += 1) {
          ;[sidecar, clock] = [new FakeSidecar(type), new Clock()]
          const id = await start().open(30)
          const first = startBills(sidecar, clock, { killAt, isAfter })
          const outcome = await Promise.race([fireNow(first, id), first.killed]).catch((error: unknown) => error)
          if (!(outcome instanceof Killed)) break
          const next = start()
          await next.passing(minuteMs)
          await fireNow(next, id)
          await next.passing(minuteMs)
          expect(new Set(firedIn(sidecar).map((event) => JSON.stringify(event))).size, `killed at ${killAt}`).to.equal(
            1,
          )
          await next.decide()
          expect(await next.status(id)).to.equal('expired')
          await next.passing(40 * minuteMs)
          await next.decide()
          expect(new Set(firedIn(sidecar).map(({ Id }) => Id)).size).to.equal(1)
          expect(logOf(sidecar)).to.have.length(2)
        }
      }
    })

    it('passes at its time, too, if its decision failed and the store was rebuilt', async () => {
      const process = start()
      const id = await process.open(30)
      broken.add(id)
      await fireNow(process, id)
      expect(await process.decide()).to.have.length(1)
      await process.passing(40 * minuteMs)
      expect(firedIn(sidecar)).to.have.length(1)
      const rebuilt = new FakeSidecar(type)
      const next = startBills(rebuilt, clock)
      for (const event of logOf(sidecar)) await handlerIn(next.opened.rebuild, event)(event)
      await next.passing(minuteMs)
      const [one, other] = [...firedIn(sidecar), ...firedIn(rebuilt)]
      expect(other?.Id).to.not.equal(one?.Id)
      broken.clear()
      for (const event of [one, other, one]) if (event) await handlerIn(next.opened.reactions, event)(event)
      expect(await next.status(id)).to.equal('expired')
      expect(logOf(rebuilt)).to.have.length(1)
    })

    it('takes effect at the time of its event in a process whose clock of the log is behind', async () => {
      const process = start()
      const id = await process.open(30)
      clock.pass(5 * minuteMs)
      await fireNow(process, id)
      const [event] = firedIn(sidecar)
      const late = new Clock()
      const other = startBills(sidecar, late)
      if (event) await handlerIn(other.opened.reactions, event)(event)
      expect(logOf(sidecar).at(-1)?.CreationDate).to.equal(event?.CreationDate)
    })
  })
}
