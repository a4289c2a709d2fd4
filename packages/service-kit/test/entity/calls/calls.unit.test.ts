import { expect } from 'chai'
import { recordedSpans } from '../../support/recorded-spans.ts'
import { logOf, outage } from '../account.ts'
import { charge, onEachStore, secondMs } from './charge.ts'

const namesIn = (events: readonly { Name: string }[]) => events.map(({ Name }) => Name)

onEachStore('calls of an entity', (charges) => {
  it('makes a call once, and decides when its outcome has arrived', async () => {
    const process = charges.start()
    const id = await process.open(42)
    expect(await process.passing(2 * secondMs)).to.deep.equal([])
    expect(await process.status(id)).to.equal('charged')
    expect([...charges.bank.ledger.values()]).to.deep.equal([{ amount: 42 }])
    const [outcome] = charges.outcomes()
    const [, done] = logOf(charges.sidecar)
    expect(outcome?.Payload).to.deep.equal({
      ...{ Entity: 'charge', EntityId: id, Call: 'Charge', Attempt: '1', Outcome: 'done' },
      Answer: { receipt: charges.bank.requests[0]?.key },
    })
    expect(done?.Headers).to.deep.include({ CausationId: outcome?.Id })
    await process.passing(200 * secondMs, 10 * secondMs)
    expect(charges.bank.requests).to.have.length(1)
    expect(process.problems).to.deep.equal([])
  })

  it('repeats the same key after a lost answer, so the target acts once', async () => {
    charges.bank.behaviours = ['answer lost', 'answer lost', 'down', 'throws']
    const process = charges.start()
    const id = await process.open(1)
    await process.passing(60 * secondMs)
    expect(await process.status(id)).to.equal('charged')
    expect(new Set(charges.bank.requests.map(({ key }) => key)).size).to.equal(1)
    expect(charges.bank.requests).to.have.length(5)
    expect(charges.bank.ledger.size).to.equal(1)
    expect(charges.outcomes()).to.have.length(1)
  })

  it('waits longer after each try without an outcome', async () => {
    charges.bank.behaviours = Array(20).fill('down')
    const process = charges.start()
    await process.open(1)
    await process.passing(10 * secondMs)
    const soon = charges.bank.requests.length
    expect(soon).to.be.within(3, 6)
    await process.passing(600 * secondMs, 10 * secondMs)
    expect(charges.bank.requests.length - soon).to.be.within(4, 9)
  })

  it('uses another key for another attempt, after a refusal', async () => {
    charges.bank.behaviours = ['refused']
    const process = charges.start()
    const id = await process.open(1)
    await process.passing(3 * secondMs)
    expect(await process.status(id)).to.equal('charged')
    expect(new Set(charges.bank.requests.map(({ key }) => key)).size).to.equal(2)
    expect(namesIn(logOf(charges.sidecar))).to.deep.equal(['PaymentApproved', 'PaymentRejected', 'PaymentRefunded'])
  })

  it('gives entities of two tenants with one id different keys', async () => {
    const process = charges.start()
    const id = await process.open(1, undefined, { id: 'a', userId: '' })
    await process.open(2, id, { id: 'b', userId: '' })
    await process.passing(2 * secondMs)
    expect(charges.bank.ledger.size).to.equal(2)
    expect(await process.status(id, { id: 'b' })).to.equal('charged')
  })

  it('decides about an outcome also if the state no longer has the call, because the target did something', async () => {
    const process = charges.start()
    const answered = Promise.withResolvers<void>()
    charges.bank.answering = answered.promise
    const id = await process.open(1)
    await charges.settled()
    await process.opened.do.stop(id, undefined, { tenant: { id: '', userId: '' } })
    answered.resolve()
    await process.passing(2 * secondMs)
    expect(await process.status(id)).to.equal('charged')
    expect(charges.bank.requests).to.have.length(1)
  })

  it('makes no call that ended before its turn', async () => {
    charges.bank.together = 1
    const process = charges.start()
    const answered = Promise.withResolvers<void>()
    charges.bank.answering = answered.promise
    await process.open(1)
    const second = await process.open(2)
    await charges.settled()
    await process.opened.do.stop(second, undefined, { tenant: { id: '', userId: '' } })
    answered.resolve()
    await process.passing(30 * secondMs)
    expect(charges.bank.requests.map(({ input }) => input)).to.deep.equal([{ amount: 1 }])
  })

  it('fails if a decision leaves the call open, because nothing would ever end it', async () => {
    const silent = { ...charge, onCall: { Charge: () => undefined } }
    const process = charges.start({}, silent as typeof charge)
    await process.open(1)
    const [error] = await process.passing(secondMs)
    expect(error?.message).to.match(/^the call Charge of charge is still open after its decision: return an event that/)
  })

  it('waits with a call until the log has its event, so that a rebuild finds the call', async () => {
    charges.sidecar.failures.publish.push(outage(), outage(), outage())
    const process = charges.start()
    await process.open(1).catch(() => {})
    await process.passing(0)
    const before = charges.bank.requests.length
    const logged = logOf(charges.sidecar).length
    expect(before <= logged, `${before} calls, ${logged} events`).to.equal(true)
    await process.passing(200 * secondMs, 5 * secondMs)
    expect(charges.bank.ledger.size).to.equal(1)
    expect(namesIn(logOf(charges.sidecar))).to.deep.equal(['PaymentApproved', 'PaymentRefunded'])
  })

  it('makes as many calls together as the target allows, and the others later', async () => {
    charges.bank.together = 3
    const process = charges.start()
    const answered = Promise.withResolvers<void>()
    charges.bank.answering = answered.promise
    const ids = await Promise.all(Array.from({ length: 40 }, (_, index) => process.open(index + 1)))
    await charges.settled()
    answered.resolve()
    await process.passing(30 * secondMs)
    expect(charges.bank.most).to.equal(3)
    expect(charges.bank.requests).to.have.length(40)
    for (const id of ids) expect(await process.status(id)).to.equal('charged')
  })

  it('records each try in the trace of its conversation', async () => {
    charges.bank.behaviours = ['down']
    const { tracing, spans } = recordedSpans()
    const process = charges.start({}, charge, tracing)
    await process.open(1)
    await process.passing(10 * secondMs)
    const tries = spans().filter(({ name }) => name === 'call Charge')
    expect(tries.map(({ kind, isError, attributes }) => ({ kind, isError, ...attributes }))).to.deep.equal([
      { kind: 'client', isError: true, 'peer.service': 'bank', tries: 0, outcome: 'unknown', 'error.type': 'unknown' },
      { kind: 'client', isError: false, 'peer.service': 'bank', tries: 1, outcome: 'done' },
    ])
    const [opened] = logOf(charges.sidecar)
    for (const { traceId } of tries) expect(traceId).to.equal(opened?.TraceId.replaceAll('-', ''))
  })

  it('reports a call to an unknown target, and continues with others', async () => {
    const lost = { ...charge, calls: () => ({ Charge: { target: 'no', operation: 'charge', input: {} } }) }
    const process = charges.start({}, lost as unknown as typeof charge)
    await process.open(1)
    await process.passing(2 * secondMs)
    expect(String(process.problems[0])).to.contain('Charge of charge calls the target no, which openEntity did not get')
  })
})
