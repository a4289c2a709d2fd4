import type { FullEvent } from '@orderflow/envelope'
import { expect } from 'chai'
import { openEntity } from '../../../src/entity/open-entity.ts'
import { FakeSidecar } from '../../../src/testing/fake-sidecar.ts'
import { app, handlerIn, logOf } from '../account.ts'
import { rebuildOf } from '../rebuild.ts'
import { charge, onEachStore, secondMs, unlessKilled } from './charge.ts'

const dayMs = 86_400_000

onEachStore('calls of an entity that something interrupts', (charges) => {
  for (const isAfter of [false, true])
    it(`charges once wherever its process is killed ${isAfter ? 'after' : 'before'} a step`, async () => {
      for (let killAt = 1; ; killAt += 1) {
        charges.reset()
        const first = charges.start({ killAt, isAfter })
        const id = await unlessKilled(Promise.race([first.open(1), first.killed]))
        await unlessKilled(Promise.race([first.passing(0), first.killed]))
        const wasKilled = first.calls() >= killAt
        const second = charges.start()
        // Another process takes over what the first one had.
        await second.passing(150 * secondMs, 30 * secondMs)
        const events = logOf(charges.sidecar)
        const label = `killed at call ${killAt}`
        expect(charges.bank.ledger.size, label).to.equal(events.length > 0 ? 1 : 0)
        expect(new Set(charges.bank.requests.map(({ key }) => key)).size, label).to.equal(charges.bank.ledger.size)
        const [created] = events
        if (created)
          expect(await second.status((created.Payload as { PaymentId: string }).PaymentId)).to.equal('charged')
        if (id !== undefined)
          expect(events.map(({ Name }) => Name)).to.deep.equal(['PaymentApproved', 'PaymentRefunded'])
        if (!wasKilled) {
          expect(killAt, 'the number of steps').to.be.greaterThan(10)
          return
        }
      }
    })

  it('makes each try in one process only, although two processes know the call', async () => {
    const [one, other] = [charges.start(), charges.start()]
    const answered = Promise.withResolvers<void>()
    charges.bank.answering = answered.promise
    const id = await one.open(1)
    await charges.settled()
    await other.passing(20 * secondMs)
    await one.passing(20 * secondMs)
    expect(charges.bank.requests).to.have.length(1)
    answered.resolve()
    await Promise.all([one.passing(5 * secondMs), other.passing(5 * secondMs)])
    expect(await one.status(id)).to.equal('charged')
  })

  it('asks the target first when its memory of the key has ended, and calls only what the target never got', async () => {
    charges.bank.behaviours = ['answer lost']
    charges.bank.keyLifeMs = 0
    const process = charges.start()
    const lost = await process.open(1)
    await process.passing(10 * secondMs)
    expect(await process.status(lost)).to.equal('charged')
    expect([charges.bank.lookups.length, charges.bank.requests.length]).to.deep.equal([1, 1])
  })

  describe('a target that forgets keys, and cannot be asked', () => {
    async function unknown() {
      charges.bank.behaviours = ['answer lost']
      charges.bank.knowsKeys = false
      charges.bank.keyLifeMs = 0
      charges.bank.lookup = undefined as never
      const process = charges.start()
      const id = await process.open(1)
      const errors = await process.passing(60 * secondMs)
      const [event] = charges.outcomes()
      return { process, id, errors, event: event as FullEvent }
    }

    /** Delivers the event again as a person has edited it. */
    const replayed = ({ process, event }: Awaited<ReturnType<typeof unknown>>, changes: object) => {
      const edited = { ...event, Payload: { ...(event.Payload as object), ...changes } } as FullEvent
      return handlerIn(process.opened.reactions, edited)(edited)
    }

    it('asks a person instead of charging twice', async () => {
      const { process, id, errors, event } = await unknown()
      expect(charges.bank.ledger.size).to.equal(1)
      expect(errors[0]).to.include({ code: 'call-unknown' })
      expect(errors[0]?.message).to.match(
        /^the outcome of Charge, attempt 1, is unknown: bank may have forgotten the key/,
      )
      expect(event.Payload).to.include({ Outcome: 'unknown', Attempt: '1' })
      await process.passing(dayMs, dayMs / 20)
      expect(charges.outcomes()).to.have.length(1)
      expect(charges.bank.ledger.size).to.equal(1)
      expect(await process.status(id)).to.equal('charging')
    })

    it('accepts the answer of a person', async () => {
      const asked = await unknown()
      expect(await replayed(asked, { Outcome: 'done' })).to.equal(true)
      expect(await asked.process.status(asked.id)).to.equal('charged')
      expect(charges.bank.ledger.size).to.equal(1)
    })

    it('calls again if a person asks for it', async () => {
      const asked = await unknown()
      charges.bank.keyLifeMs = dayMs
      expect(await replayed(asked, { Outcome: 'again' })).to.equal(true)
      await asked.process.passing(20 * secondMs)
      expect(await asked.process.status(asked.id)).to.equal('charged')
      expect(charges.bank.requests).to.have.length(2)
      expect(await replayed(asked, { Outcome: 'again' })).to.equal(false)
    })
  })

  it('calls nothing in a rebuild, and afterwards asks the target about each open call', async () => {
    charges.bank.behaviours = ['answer lost']
    const first = charges.start()
    const id = await first.open(1)
    await charges.settled()
    const events = logOf(charges.sidecar)
    const bank = charges.bank
    charges.sidecar.documents.clear()
    const rebuilt = charges.start()
    for (const event of events) await handlerIn(rebuilt.opened.rebuild, event)(event)
    await charges.settled()
    expect(bank.requests).to.have.length(1)
    await rebuilt.passing(5 * secondMs)
    expect([bank.requests.length, bank.lookups.length]).to.deep.equal([1, 1])
    expect(await rebuilt.status(id)).to.equal('charged')
  })

  describe('a rebuild of its store', () => {
    const rebuild = rebuildOf((context) => openEntity(charge, context))

    it('calls nothing, and afterwards the target is asked about each open call', async () => {
      charges.bank.behaviours = ['answer lost', 'down']
      const process = charges.start()
      const ids = [await process.open(1), await process.open(2)]
      await charges.settled()
      const live = charges.sidecar
      charges.sidecar = new FakeSidecar(charges.type)
      await rebuild(live, charges.sidecar)
      expect(charges.bank.requests).to.have.length(2)
      const rebuilt = charges.start()
      await rebuilt.passing(60 * secondMs, 10 * secondMs)
      expect(charges.bank.lookups).to.have.length(2)
      expect(charges.bank.ledger.size).to.equal(2)
      for (const id of ids) expect(await rebuilt.status(id)).to.equal('charged')
    })

    it('changes nothing in a complete store, where an answered call stays answered', async () => {
      const process = charges.start()
      const id = await process.open(1)
      await charges.settled()
      const before = charges.sidecar.documents.get(`charge/${id}`)?.value
      expect(before).to.have.nested.property('calls.Charge.answered', true)
      await rebuild(charges.sidecar, charges.sidecar)
      expect(charges.sidecar.documents.get(`charge/${id}`)?.value).to.deep.equal(before)
      await charges.start().passing(60 * secondMs, 10 * secondMs)
      expect([charges.bank.requests.length, charges.bank.lookups.length]).to.deep.equal([1, 0])
    })

    it('adds calls to the documents of a release without them', async () => {
      charges.bank.behaviours = ['answer lost']
      const process = charges.start()
      const id = await process.open(1)
      await charges.settled()
      const { value } = charges.sidecar.documents.get(`charge/${id}`) as { value: { calls?: object } }
      delete value.calls
      for (const key of charges.sidecar.documents.keys())
        if (key.startsWith('due/')) charges.sidecar.documents.delete(key)
      await rebuild(charges.sidecar, charges.sidecar)
      const next = charges.start()
      await next.passing(60 * secondMs, 10 * secondMs)
      expect(await next.status(id)).to.equal('charged')
      expect([charges.bank.requests.length, charges.bank.lookups.length]).to.deep.equal([1, 1])
    })
  })

  it('ignores outcomes of another application', async () => {
    const process = charges.start()
    const id = await process.open(1)
    await process.passing(0)
    const [event] = charges.outcomes()
    const foreign = { ...(event as FullEvent), AppId: crypto.randomUUID() }
    expect(app.id).not.to.equal(foreign.AppId)
    expect(await handlerIn(process.opened.reactions, foreign)(foreign)).to.equal(false)
    expect(id).to.be.a('string')
  })

  it('repeats a decision about an outcome without an effect', async () => {
    const process = charges.start()
    await process.open(1)
    await process.passing(2 * secondMs)
    const [event] = charges.outcomes()
    expect(await handlerIn(process.opened.reactions, event as FullEvent)(event as FullEvent)).to.equal(false)
    expect(logOf(charges.sidecar)).to.have.length(2)
    expect(charge.name).to.equal('charge')
  })
})
