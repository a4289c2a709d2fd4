import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type EntityDefinition, entity, openEntity, type ServiceDefinition } from '@orderflow/service-kit'
import { expect } from 'chai'
import { event } from '../../src/scenario/index.ts'
import { keepStates } from '../../src/scenario/states.ts'
import { temporaryService } from './notes-service.ts'

const OrderId = '5f0c1d7a-2b3c-4d5e-8f90-a1b2c3d4e5f6'
const examples = { reminded: [event('OrderCreated', { OrderId })] }

const common = {
  name: 'hold',
  id: ({ OrderId }: { OrderId: string }) => OrderId,
  events: ['OrderReminded' as const],
  on: {
    OrderCreated: () => ({ OrderReminded: { OrderId, PayableUntil: '2026-01-01T00:30:00.000Z' } }),
  },
  view: (state: unknown) => state,
}
const first = entity({
  ...common,
  initial: { until: '' },
  evolve: { OrderReminded: (_, { Payload }) => ({ until: Payload.PayableUntil }) },
})
/** A later release, whose state has another form. */
const laterWith = (upcast?: ((state: { until: string }) => unknown)[]) =>
  entity({
    ...common,
    initial: { end: { at: '' } },
    ...(upcast && { upcast }),
    evolve: { OrderReminded: (_, { Payload }) => ({ end: { at: Payload.PayableUntil } }) },
  })
const correct = laterWith([({ until }) => ({ end: { at: until } })])

describe('the test of documents of earlier releases', () => {
  let service: ServiceDefinition
  let definition: unknown
  beforeEach(async () => {
    definition = first
    service = temporaryService('order-service', (context) => ({
      routes: [],
      entities: [openEntity(definition as EntityDefinition<unknown, unknown, never, never, never, object>, context)],
    }))
    await keepStates(service, examples, {})
  })
  const folder = () => new URL('test/states/', service.root)
  const textOf = (file: string) => readFileSync(new URL(file, folder()), 'utf8')
  async function failureWith(later: unknown, env = {}): Promise<string> {
    definition = later
    const error = await keepStates(service, examples, env).catch((thrown: unknown) => thrown as Error)
    return error?.message ?? ''
  }

  it('writes documents at the first run, and keeps them', async () => {
    const text = textOf('hold-0.json')
    expect(JSON.parse(text).reminded.documents[`hold/${OrderId}`].state).to.deep.equal({
      until: '2026-01-01T00:30:00.000Z',
    })
    await keepStates(service, { ...examples, other: [] }, { CI: 'true' })
    expect(textOf('hold-0.json')).to.equal(text)
  })

  it('rejects a form that the present code reads otherwise than it rebuilds it', async () => {
    const message = await failureWith(laterWith())
    expect(message).to.contain('test/states/hold-0.json (“reminded”)').and.to.contain('add a function to `upcast`')
    expect(readdirSync(folder())).to.deep.equal(['hold-0.json'])
  })

  it('rejects a wrong upcast', async () => {
    const message = await failureWith(laterWith([({ until }) => ({ end: until })]))
    expect(message).to.contain('test/states/hold-0.json (“reminded”)')
  })

  it('adds a file for each new form, which a CI server only expects', async () => {
    expect(await failureWith(correct, { CI: 'true' })).to.contain('test/states/hold-1.json lacks reminded')
    expect(existsSync(new URL('hold-1.json', folder()))).to.equal(false)
    expect(await failureWith(correct)).to.equal('')
    expect(await failureWith(correct, { CI: 'true' })).to.equal('')
    expect(JSON.parse(textOf('hold-1.json')).reminded.documents[`hold/${OrderId}`]).to.deep.include({
      version: 1,
      state: { end: { at: '2026-01-01T00:30:00.000Z' } },
    })
  })

  it('adds new examples', async () => {
    const more = { ...examples, twice: [...examples.reminded, event('OrderCreated', { OrderId })] }
    await keepStates(service, more, {})
    expect(Object.keys(JSON.parse(textOf('hold-0.json')))).to.have.members(['reminded', 'twice'])
  })
})
