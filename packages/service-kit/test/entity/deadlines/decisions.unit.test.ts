import { expect } from 'chai'
import { virtualTime } from '../../support/virtual-time.ts'
import { logOf, outage } from '../account.ts'
import { bill, broken, firedIn, minuteMs, passedIn } from '../bill.ts'
import { consumeDeadlines } from './consumer.ts'
import { onEachStore } from './on-each-store.ts'

onEachStore('decisions about deadlines', (bills) => {
  // wolverine#1095: an exception for each deadline that fires after the completion.
  it('ignores a fired deadline without an error if its entity has ended meanwhile', async () => {
    const process = bills.start()
    const id = await process.open(1)
    await process.passing(2 * minuteMs)
    await process.pay(id)
    expect(await process.decide()).to.deep.equal([])
    expect(await process.status(id)).to.equal('paid')
  })

  // eventuate-tram-sagas#72: one unhandled exception blocked all.
  it('makes one dead letter of a decision that fails, and continues with other deadlines and with the entity', async () => {
    const process = bills.start()
    const consumer = consumeDeadlines(bills.sidecar, process)
    const [bad, good, paid] = [await process.open(1), await process.open(1), await process.open(1)]
    broken.add(bad)
    broken.add(paid)
    await process.passing(2 * minuteMs)
    expect(await consumer.deliver()).to.deep.equal(['SUCCESS', 'SUCCESS', 'SUCCESS'])
    expect(await process.status(good)).to.equal('expired')
    const details = consumer.deadLetters().map(({ headers }) => headers['deadletter-detail'])
    expect(details).to.deep.equal(['Error: a bug', 'Error: a bug'])
    await process.pay(paid)
    expect(await process.status(paid)).to.equal('paid')
    // It passes again only by a replay.
    await process.passing(10 * minuteMs)
    expect(passedIn(bills.sidecar)).to.have.length(3)
    broken.clear()
    expect(await process.decide()).to.deep.equal([])
    expect(await process.status(bad)).to.equal('expired')
    expect(await process.status(paid)).to.equal('paid')
  })

  it('fails if its decision neither ends nor moves a deadline', async () => {
    const silent = { ...bill, onDeadline: { ...bill.onDeadline, Expiry: () => undefined } }
    const process = bills.start({}, silent as typeof bill)
    await process.open(1)
    await process.passing(2 * minuteMs)
    const [error] = await process.decide()
    expect(error?.message).to.match(/^the deadline Expiry of bill is still open after its decision/)
  })

  // dapr/dapr#10144 (v1.18.2): one goroutine ran the callbacks of all timers.
  it('decides other deadlines while the decision about one is slow', async () => {
    const process = bills.start()
    const [slow, ...others] = [await process.open(1), await process.open(1), await process.open(1)]
    const ended = Promise.withResolvers<void>()
    const consumer = consumeDeadlines(bills.sidecar, process, async ({ Payload }) => {
      if (Object(Payload).EntityId === slow) await ended.promise
    })
    await process.passing(2 * minuteMs)
    const delivered = consumer.deliver()
    for (const id of others) while ((await process.status(id)) === 'open') await new Promise(setImmediate)
    expect(await process.status(slow)).to.equal('open')
    // Meanwhile, others fire.
    await process.open(1)
    await process.passing(2 * minuteMs)
    expect(passedIn(bills.sidecar)).to.have.length(4)
    ended.resolve()
    await delivered
    expect(await process.status(slow)).to.equal('expired')
  })

  describe('a hanging call', () => {
    const virtual = virtualTime()
    /** Lets time pass until the work ends. */
    const ended = async <T>(work: Promise<T>): Promise<T> => {
      let isEnded = false
      void work.finally(() => {
        isEnded = true
      })
      for (let second = 0; second < 1_000 && !isEnded; second += 1) await virtual.pass(1_000)
      expect(isEnded).to.equal(true)
      return await work
    }

    // restate#5196: the process was suspended for ever, and its key held.
    it('becomes a dead letter if a decision waits for it for ever, and the entity remains usable', async () => {
      const process = bills.start()
      const [hanging, other] = [await ended(process.open(1)), await ended(process.open(1))]
      const consumer = consumeDeadlines(bills.sidecar, process, async ({ Payload }) => {
        if (Object(Payload).EntityId === hanging) await new Promise(() => {})
      })
      bills.clock.pass(2 * minuteMs)
      await ended(process.fire())
      expect(await ended(consumer.deliver())).to.deep.equal(['SUCCESS', 'SUCCESS'])
      expect(consumer.deadLetters()).to.have.length(1)
      expect(await ended(process.status(other))).to.equal('expired')
      await ended(process.open(1, hanging))
      bills.clock.pass(2 * minuteMs)
      await ended(process.fire())
      expect(passedIn(bills.sidecar)).to.have.length(3)
      await ended(process.decide())
      expect(await ended(process.status(hanging))).to.equal('expired')
    })

    it('delays a decision if it is a call to the store, and then the deadline is decided once', async () => {
      const process = bills.start()
      const consumer = consumeDeadlines(bills.sidecar, process)
      const id = await ended(process.open(1))
      bills.clock.pass(2 * minuteMs)
      await ended(process.fire())
      const { sidecar } = bills
      const read = sidecar.read.bind(sidecar)
      sidecar.read = () => new Promise((_, reject) => setTimeout(() => reject(outage()), 30_000))
      expect(await ended(consumer.deliver())).to.deep.equal(['RETRY'])
      sidecar.read = read
      expect(await ended(consumer.deliver())).to.deep.equal(['SUCCESS'])
      expect([await ended(process.status(id)), consumer.deadLetters()]).to.deep.equal(['expired', []])
      expect(logOf(sidecar)).to.have.length(2)
      expect(firedIn(sidecar)).to.have.length(1)
    })
  })
})
