import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'chai'
import { event, later, request, scenario } from '../../src/scenario/index.ts'
import { key, type Note, notesService, withoutCi } from './notes-service.ts'

const OrderId = '5f0c1d7a-2b3c-4d5e-8f90-a1b2c3d4e5f6'
const created = event('OrderCreated', { OrderId, Total: 10 })
const cancelled = event('OrderCancelled', { OrderId })
const otherCreated = event('OrderCreated', { OrderId, Total: 20 })

const isNew = (note: Note, name: string) => !note.names.includes(name)
const withName = (note: Note, name: string): Note => ({ ...note, names: [...note.names, name].toSorted() })

/** Adds each event once, so its note depends neither on the order nor on duplicates. */
const correct = () =>
  notesService((note, { Name, Id }) => (isNew(note, `${Name} ${Id}`) ? withName(note, `${Name} ${Id}`) : note))

async function failureOf(run: Promise<void>): Promise<Error> {
  const error = await run.then(
    () => undefined,
    (error: Error) => error,
  )
  if (!error) throw new Error('the scenario passed')
  return error
}

/** Runs a scenario with a variable of the environment. */
async function withVariable<T>(name: 'CI' | 'SEED', value: string, use: () => Promise<T>): Promise<T> {
  const before = process.env[name]
  process.env[name] = value
  try {
    return await use()
  } finally {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  }
}

describe('a scenario', () => {
  withoutCi()

  it('passes for a service that ignores duplicates and the order of events', async () => {
    const names = [created, otherCreated, cancelled].map(({ Name, Id }) => `${Name} ${Id}`).toSorted()
    await scenario(correct())
      .given(created, otherCreated)
      .when(cancelled)
      .then({ stored: { [key]: { names } } })
  }).timeout(120_000)

  it('tries every order of two events with their duplicates, and each order once', async () => {
    const orders: string[][] = []
    const service = notesService((note, { Name }) => {
      if (note.names.length === 0) orders.push([])
      orders.at(-1)?.push(Name)
      return { ...note, names: [...note.names, Name] }
    })
    await scenario(service).when(created, cancelled).then({})
    const texts = orders.map((names) => names.map((name) => name.slice(5, 7)).join())
    expect(texts.toSorted()).to.deep.equal([
      'Ca,Ca,Cr,Cr',
      'Ca,Cr,Ca,Cr',
      'Ca,Cr,Cr,Ca',
      'Cr,Ca,Ca,Cr',
      'Cr,Ca,Cr,Ca',
      'Cr,Cr,Ca,Ca',
    ])
  })

  it('finds a bug that only a duplicate shows', async () => {
    const service = notesService((note, { Name }) => ({ ...note, names: [...note.names, Name] }))
    const error = await failureOf(
      scenario(service)
        .when(created)
        .then({ stored: { [key]: { names: ['OrderCreated'] } } }),
    )
    expect(error.message).to.contain('failed in order 1, which SEED=0 repeats').and.to.contain('2. OrderCreated')
  })

  it('finds a bug that only one order of three events shows, in at most 100 runs', async () => {
    const order = ['OrderCancelled', 'OrderCreated', 'OrderCreated']
    const service = notesService((note, { Name, Id }) => {
      if (!isNew(note, Id)) return note
      const names = [...note.names, Id]
      const total = Name === order[note.names.length] ? note.total + 1 : note.total
      return { names, total: names.length === 3 && total === 3 ? 99 : total }
    })
    const error = await failureOf(
      scenario(service)
        .when(created, otherCreated, cancelled)
        .then({ check: (documents) => expect(documents[key]).not.to.include({ total: 99 }) }),
    )
    const [, runs] = /failed in order (\d+)/.exec(error.message) ?? []
    expect(Number(runs)).to.be.within(2, 200)
  })

  it('repeats the failed order for its seed, and only this order', async () => {
    let runs = 0
    const service = notesService((note, { Name }) => {
      if (note.names.length === 0) runs += 1
      return { ...note, names: [...note.names, Name] }
    })
    const last = (name: string) =>
      scenario(service)
        .when(created, cancelled)
        .then({ check: (documents) => expect((documents[key] as Note).names.at(-1)).to.equal(name) })
    const error = await failureOf(last('OrderCancelled'))
    const [, seed = ''] = /SEED=([\d.]*)/.exec(error.message) ?? []
    runs = 0
    const again = await withVariable('SEED', seed, () => failureOf(last('OrderCancelled')))
    expect(again.message.split('\n').slice(2)).to.deep.equal(error.message.split('\n').slice(2))
    expect(runs).to.equal(1)
  })

  it('refuses an invalid seed', async () => {
    const error = await withVariable('SEED', 'first', () => failureOf(scenario(correct()).when(created).then({})))
    expect(error.message).to.equal('SEED=first is not a seed: copy it from the message of a failed scenario')
  })

  it('keeps the order of events with inOrder, except for duplicates', async () => {
    const service = notesService((note, { Name }) =>
      isNew(note, Name) ? { ...note, names: [...note.names, Name] } : note,
    )
    const expected = { stored: { [key]: { names: ['OrderCreated', 'OrderCancelled'] } } }
    await scenario(service).when(created, cancelled).inOrder().then(expected)
    const error = await failureOf(scenario(service).when(created, cancelled).then(expected))
    expect(error.message).to.contain('the store has other documents than expected')
  })

  it('stops the clock of the service, and moves it between steps', async () => {
    const service = notesService((note, { Name }, at) =>
      isNew(note, Name) ? { names: [...note.names, Name], total: at.getTime() } : note,
    )
    await scenario(service)
      .given(created)
      .when(later('1 minute'), cancelled)
      .then({ stored: { [key]: { total: Date.parse('2026-01-01T00:01:00Z') } } })
  })

  it('fails for an unexpected dead letter, and shows the bug behind it', async () => {
    const service = notesService(() => {
      throw new TypeError('a planted bug')
    })
    const error = await failureOf(scenario(service).when(created).then({}))
    expect(error.message).to.contain('became dead letters').and.to.contain('a planted bug')
    await scenario(service)
      .when(created)
      .then({ rejected: ['handler-error'] })
  })

  it('shows why the service refused a request', async () => {
    const asked = scenario(correct()).when(request('GET', '/v1/unknown'))
    const error = await failureOf(asked.then({ answered: { status: 200 } }))
    expect(error.message).to.contain('the service answered: There is no operation GET')
  })

  it('fails for an event without a reaction', async () => {
    const error = await failureOf(scenario(correct()).when(event('PaymentApproved')).then({}))
    expect(error.message).to.contain('the service has no reaction to PaymentApproved')
  })

  it('refuses to be awaited without an expected result', async () => {
    const awaited = scenario(correct()).when(created) as unknown as PromiseLike<void>
    const error = await failureOf((async () => await awaited)())
    expect(error.message).to.contain('call then({ … })')
  })
})

describe('the file test/reads.json of a service', () => {
  withoutCi()

  const totals = () =>
    notesService((note, event) => (event.Name === 'OrderCreated' ? { ...note, total: event.Payload.Total } : note))
  const fileOf = ({ root }: { root: URL }) => new URL('test/reads.json', root)

  it('gets the fields that reactions read', async () => {
    const service = totals()
    await scenario(service).when(created).then({})
    expect(JSON.parse(readFileSync(fileOf(service), 'utf8'))).to.deep.equal({ 'OrderCreated@1': ['/Total'] })
  })

  it('gets the format of Biome, so that the lint accepts a new file', async () => {
    const service = totals()
    const long = Array.from({ length: 5 }, (_, index) => `/AFieldWithALongName${index}`)
    writeFileSync(fileOf(service), JSON.stringify({ 'PaymentApproved@1': long }))
    await scenario(service).when(created).then({})
    const lines = long.map((pointer) => `    "${pointer}"`).join(',\n')
    const text = `{\n  "OrderCreated@1": ["/Total"],\n  "PaymentApproved@1": [\n${lines}\n  ]\n}\n`
    expect(readFileSync(fileOf(service), 'utf8')).to.equal(text)
  })

  it('keeps fields that other tests have read', async () => {
    const service = totals()
    writeFileSync(fileOf(service), '{"OrderCreated@1":["/OrderId"],"PaymentApproved@1":["/Amount"]}')
    await scenario(service).when(created).then({})
    expect(JSON.parse(readFileSync(fileOf(service), 'utf8'))).to.deep.equal({
      'OrderCreated@1': ['/OrderId', '/Total'],
      'PaymentApproved@1': ['/Amount'],
    })
  })

  it('fails the test on a CI server if a field is missing', async () => {
    const service = totals()
    const error = await withVariable('CI', 'true', () => failureOf(scenario(service).when(created).then({})))
    expect(error.message).to.contain('/Total of OrderCreated@1').and.to.contain('commit the file')
    expect(existsSync(fileOf(service))).to.equal(false)
  })
})
