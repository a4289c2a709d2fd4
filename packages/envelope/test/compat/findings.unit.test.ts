import { expect } from 'chai'
import { changesBetween, compatibilityOf, type Rules } from '../../src/compat/changes.ts'
import { findingsBetween } from '../../src/compat/findings.ts'
import { schemasIn } from '../../src/compat/states.ts'
import { schemaFolders } from '../support/schema-folders.ts'

const event = 'events/OrderCreated.1.json'

const today = new Map(schemaFolders.flatMap((folder) => [...schemasIn(folder)]))

/** They, one of them changed. */
function changed(path: string, change: (schema: Rules) => void, as = path) {
  const schema = structuredClone(today.get(path)) as Rules
  change(schema)
  return new Map([...today, [as, schema]])
}

/** Fields of a schema, to be changed. */
const fieldsOf = (schema: Rules) => schema.properties as Record<string, Rules>

const messages = (after: Map<string, Rules>, before = today) =>
  findingsBetween(before, after).map(
    ({ path, message, isWrong }) => `${path} ${isWrong ? 'wrong' : 'right'}: ${message}`,
  )

describe('schemas beside an earlier state', () => {
  it('are right when nothing or only words changed, or a field without a rule came', () => {
    expect(messages(new Map(today))).to.deep.equal([])
    const worded = changed(event, (schema) => {
      schema.description = 'Another'
      ;(fieldsOf(schema).Total as Rules).title = 'Sum'
      fieldsOf(schema).Note = { title: 'Note', description: 'Anything.' }
      ;(schema.required as string[]).reverse()
    })
    expect(messages(worded)).to.deep.equal([])
  })

  it('are wrong when a Payload changed under its Version, even to let more pass, or is gone', () => {
    const advice = 'leave it, and write the next Version'
    const looser = changed(event, (schema) => (schema.required as string[]).pop())
    expect(messages(looser)).to.deep.equal([`${event} wrong: changed under its Version (backward): ${advice}`])
    const added = changed(event, (schema) => Object.assign(fieldsOf(schema), { Note: { type: 'string' } }))
    expect(messages(added)).to.deep.equal([`${event} wrong: changed under its Version (forward): ${advice}`])
    const gone = new Map(today)
    gone.delete(event)
    expect(messages(gone)).to.deep.equal([`${event} wrong: is gone: logs still hold what it describes; bring it back`])
  })

  it('are wrong for each event when a rule changed that they share', () => {
    const shared = changed('common.json', (schema) => {
      ;((schema.$defs as Rules).money as Rules).maximum = 1
    })
    const paths = findingsBetween(today, shared).map(({ path }) => path)
    expect(paths).to.include(event).and.not.to.include('envelope.full.json')
  })

  it('may let more pass in the envelope, which has no Version, and no less', () => {
    const path = 'envelope.received.json'
    const looser = changed(path, (schema) => (schema.required as string[]).pop())
    expect(messages(looser)[0]).to.match(/^envelope.received.json right: changed \(backward\)/)
    const stricter = changed(path, (schema) => (schema.required as string[]).push('Id'))
    expect(messages(stricter)[0]).to.match(/^envelope.received.json wrong: changed \(forward\)/)
  })

  it('say of a new Version how it goes with the one before, and of a new event that it is new', () => {
    const next = (change: (schema: Rules) => void) => messages(changed(event, change, 'events/OrderCreated.2.json'))[0]
    const isNew = 'events/OrderCreated.2.json right: is a new Version:'
    expect(next(() => {})).to.equal(`${isNew} full to OrderCreated.1.json`)
    expect(next((schema) => (schema.required as string[]).pop())).to.equal(`${isNew} backward to OrderCreated.1.json`)
    expect(next((schema) => (fieldsOf(schema).Note = { type: 'string' }))).to.equal(
      `${isNew} forward to OrderCreated.1.json`,
    )
    expect(messages(changed(event, () => {}, 'events/ParcelSent.1.json'))).to.deep.equal([
      'events/ParcelSent.1.json right: is new',
    ])
  })
})

describe('a new Version that refuses Payloads of the one before', () => {
  const next = (change: (schema: Rules) => void) => messages(changed(event, change, 'events/OrderCreated.2.json'))[0]
  const toText = (schema: Rules) => (fieldsOf(schema).Total = { type: 'string' })
  const toRequired = (schema: Rules) => (schema.required as string[]).push('Note')

  it('is wrong without x-upcast, which says how such a Payload becomes a newer one', () => {
    const isWrong = 'events/OrderCreated.2.json wrong: is a new Version:'
    const advice = 'declare x-upcast, since receivers see each event in its newest Version'
    expect(next(toText)).to.equal(`${isWrong} breaking to OrderCreated.1.json: ${advice}`)
    expect(next(toRequired)).to.equal(`${isWrong} forward to OrderCreated.1.json: ${advice}`)
  })

  it('is right with it', () => {
    const isRight = 'events/OrderCreated.2.json right: is a new Version:'
    const withUpcast = (change: (schema: Rules) => void) =>
      next((schema) => {
        change(schema)
        schema['x-upcast'] = { Total: '1' }
      })
    expect(withUpcast(toText)).to.equal(`${isRight} breaking to OrderCreated.1.json`)
    expect(withUpcast(toRequired)).to.equal(`${isRight} forward to OrderCreated.1.json`)
  })
})

describe('a change of a schema', () => {
  const cases: [string, Rules, Rules, string][] = [
    ['a longer text', { maxLength: 1 }, { maxLength: 2 }, 'backward'],
    ['a shorter text', { maxLength: 2 }, { maxLength: 1 }, 'forward'],
    ['no limit any more', { maximum: 2 }, {}, 'backward'],
    ['a limit', {}, { minimum: 0 }, 'forward'],
    ['a lower minimum', { minimum: 2 }, { minimum: 1 }, 'backward'],
    ['one word more', { enum: ['a'] }, { enum: ['a', 'b'] }, 'backward'],
    ['another word', { enum: ['a'] }, { enum: ['b'] }, 'breaking'],
    ['the same words', { enum: ['a', 'b'] }, { enum: ['b', 'a'] }, 'full'],
    ['whole numbers to any', { type: 'integer' }, { type: 'number' }, 'backward'],
    ['one type more', { type: 'string' }, { type: ['string', 'null'] }, 'backward'],
    ['another type', { type: 'string' }, { type: 'number' }, 'breaking'],
    ['another pattern', { pattern: 'a' }, { pattern: 'b' }, 'breaking'],
    ['no pattern any more', { pattern: 'a' }, {}, 'backward'],
    ['a keyword that nobody knows', { contains: {} }, { contains: { type: 'string' } }, 'breaking'],
    ['a rule of items', { items: {} }, { items: { type: 'string' } }, 'forward'],
    ['a field with a rule', { properties: {} }, { properties: { a: { type: 'string' } } }, 'forward'],
    ['a field without one', { properties: {} }, { properties: { a: {} } }, 'full'],
    ['a field that is gone', { properties: { a: { type: 'string' } } }, {}, 'backward'],
    [
      'a field deep inside',
      { properties: { a: { properties: { b: { maxLength: 1 } } } } },
      { properties: { a: { properties: { b: {} } } } },
      'backward',
    ],
  ]
  for (const [what, before, after, expected] of cases) {
    it(`is ${expected}: ${what}`, () => {
      expect(compatibilityOf(changesBetween(before, after))).to.equal(expected)
      const back = { full: 'full', backward: 'forward', forward: 'backward', breaking: 'breaking' }[expected]
      expect(compatibilityOf(changesBetween(after, before)), 'the other way round').to.equal(back)
    })
  }

  it('is told with the pointer, and with what it breaks', () => {
    const [change] = changesBetween({ properties: { a: { maxLength: 1 } } }, { properties: { a: { maxLength: 2 } } })
    expect(change).to.deep.equal({
      pointer: '/a',
      message: 'maxLength was 1 and is 2',
      breaksBackward: false,
      breaksForward: true,
    })
  })
})
