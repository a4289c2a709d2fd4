import { expect } from 'chai'
import { changesBetween, compatibilityOf, type Rules, schemaChanges } from '../../src/compat/changes.ts'
import { findingsBetween } from '../../src/compat/findings.ts'
import { schemasIn } from '../../src/compat/states.ts'
import { schemaDocuments } from '../../src/schemas/schema-documents.ts'
import { schemaFolders } from '../support/schema-folders.ts'

const event = 'events/OrderCreated.1.json'

const today = new Map(schemaFolders.flatMap((folder) => [...schemasIn(folder)]))

function changed(path: string, change: (schema: Rules) => void, as = path) {
  const schema = structuredClone(today.get(path)) as Rules
  change(schema)
  return new Map([...today, [as, schema]])
}

const fieldsOf = (schema: Rules) => schema.properties as Record<string, Rules>

const messages = (after: Map<string, Rules>, before = today) =>
  findingsBetween(before, after).map(
    ({ path, message, isWrong }) => `${path} ${isWrong ? 'wrong' : 'right'}: ${message}`,
  )

describe('findingsBetween', () => {
  it('accepts changed descriptions and new fields that have no rule', () => {
    expect(messages(new Map(today))).to.deep.equal([])
    const worded = changed(event, (schema) => {
      schema.description = 'Another'
      ;(fieldsOf(schema).Total as Rules).title = 'Sum'
      fieldsOf(schema).Note = { title: 'Note', description: 'Anything.' }
      ;(schema.required as string[]).reverse()
    })
    expect(messages(worded)).to.deep.equal([])
  })

  it('rejects a missing schema, and any changed rule of a published Version, even if the new rule is looser', () => {
    const advice = 'restore it, and write the next Version'
    const looser = changed(event, (schema) => (schema.required as string[]).pop())
    expect(messages(looser)).to.deep.equal([`${event} wrong: changed under its Version (backward): ${advice}`])
    const added = changed(event, (schema) => Object.assign(fieldsOf(schema), { Note: { type: 'string' } }))
    expect(messages(added)).to.deep.equal([`${event} wrong: changed under its Version (forward): ${advice}`])
    const gone = new Map(today)
    gone.delete(event)
    expect(messages(gone)).to.deep.equal([`${event} wrong: is missing, and logs still have its events: restore it`])
  })

  it('reports a stricter shared rule for each event that uses the rule', () => {
    const shared = changed('common.json', (schema) => {
      ;((schema.$defs as Rules).money as Rules).maximum = 1
    })
    const paths = findingsBetween(today, shared).map(({ path }) => path)
    expect(paths).to.include(event).and.not.to.include('envelope.full.json')
  })

  it('allows looser rules in the envelope, and rejects stricter ones', () => {
    const path = 'envelope.received.json'
    const looser = changed(path, (schema) => (schema.required as string[]).pop())
    expect(messages(looser)[0]).to.match(/^envelope.received.json right: changed \(backward\)/)
    const stricter = changed(path, (schema) => (schema.required as string[]).push('Id'))
    expect(messages(stricter)[0]).to.match(/^envelope.received.json wrong: changed \(forward\)/)
  })

  it('reports whether a new Version is compatible with the previous Version, and reports new events', () => {
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

describe('the event types in findings', () => {
  const types = (after: Map<string, Rules>) => findingsBetween(today, after).map((finding) => finding.types)
  const next = 'events/OrderCreated.2.json'
  const optional = (schema: Rules) => (schema.required as string[]).pop()
  const without = new Map([...changed(event, () => {}, next)].filter(([path]) => path !== event))

  it('lists the previous Version for a new Version, because services get events in the newest Version', () => {
    expect(types(changed(event, optional, next))).to.deep.equal([['OrderCreated@1']])
  })

  it('lists the Version itself and newer Versions for a changed or removed Version', () => {
    expect(types(changed(event, optional))).to.deep.equal([['OrderCreated@1']])
    expect(types(without)[0]).to.deep.equal(['OrderCreated@1', 'OrderCreated@2'])
  })

  it('lists no type for the envelope, and for a new event', () => {
    expect(types(changed('envelope.received.json', optional))[0]).to.deep.equal([])
    expect(types(changed(event, () => {}, 'events/ParcelSent.1.json'))).to.deep.equal([[]])
  })

  it('reports a change of the whole document if its schema was removed', () => {
    const [finding] = findingsBetween(today, without)
    expect(finding?.changes).to.deep.equal([
      { pointer: '', message: 'has no schema now', breaksBackward: true, breaksForward: true },
    ])
  })
})

describe('findingsBetween for a new Version that rejects older Payloads', () => {
  const next = (change: (schema: Rules) => void) => messages(changed(event, change, 'events/OrderCreated.2.json'))[0]
  const toText = (schema: Rules) => (fieldsOf(schema).Total = { type: 'string' })
  const toRequired = (schema: Rules) => (schema.required as string[]).push('Note')

  it('rejects the Version without x-upcast', () => {
    const isWrong = 'events/OrderCreated.2.json wrong: is a new Version:'
    const advice = 'declare x-upcast, because receivers convert each event to its newest Version'
    expect(next(toText)).to.equal(`${isWrong} breaking to OrderCreated.1.json: ${advice}`)
    expect(next(toRequired)).to.equal(`${isWrong} forward to OrderCreated.1.json: ${advice}`)
  })

  it('accepts the Version with x-upcast', () => {
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

describe('compatibilityOf', () => {
  const cases: [string, Rules, Rules, string][] = [
    ['a longer text', { maxLength: 1 }, { maxLength: 2 }, 'backward'],
    ['a shorter text', { maxLength: 2 }, { maxLength: 1 }, 'forward'],
    ['a removed limit', { maximum: 2 }, {}, 'backward'],
    ['a limit', {}, { minimum: 0 }, 'forward'],
    ['a lower minimum', { minimum: 2 }, { minimum: 1 }, 'backward'],
    ['an added word', { enum: ['a'] }, { enum: ['a', 'b'] }, 'backward'],
    ['another word', { enum: ['a'] }, { enum: ['b'] }, 'breaking'],
    ['the same words', { enum: ['a', 'b'] }, { enum: ['b', 'a'] }, 'full'],
    ['number in place of integer', { type: 'integer' }, { type: 'number' }, 'backward'],
    ['an added type', { type: 'string' }, { type: ['string', 'null'] }, 'backward'],
    ['another type', { type: 'string' }, { type: 'number' }, 'breaking'],
    ['another pattern', { pattern: 'a' }, { pattern: 'b' }, 'breaking'],
    ['a removed pattern', { pattern: 'a' }, {}, 'backward'],
    ['an unknown keyword', { contains: {} }, { contains: { type: 'string' } }, 'breaking'],
    ['a new rule of items', { items: {} }, { items: { type: 'string' } }, 'forward'],
    ['a new field with a rule', { properties: {} }, { properties: { a: { type: 'string' } } }, 'forward'],
    ['a new field without a rule', { properties: {} }, { properties: { a: {} } }, 'full'],
    ['a removed field', { properties: { a: { type: 'string' } } }, {}, 'backward'],
    [
      'a removed limit of a nested field',
      { properties: { a: { properties: { b: { maxLength: 1 } } } } },
      { properties: { a: { properties: { b: {} } } } },
      'backward',
    ],
  ]
  for (const [what, before, after, expected] of cases) {
    it(`reports the compatibility “${expected}” for ${what}`, () => {
      expect(compatibilityOf(changesBetween(before, after))).to.equal(expected)
      const back = { full: 'full', backward: 'forward', forward: 'backward', breaking: 'breaking' }[expected]
      expect(compatibilityOf(changesBetween(after, before)), 'in the opposite direction').to.equal(back)
    })
  }

  it('reports a change with its pointer and the compatibility that it breaks', () => {
    const [change] = changesBetween({ properties: { a: { maxLength: 1 } } }, { properties: { a: { maxLength: 2 } } })
    expect(change).to.deep.equal({
      pointer: '/a',
      message: 'maxLength was 1 and is 2',
      breaksBackward: false,
      breaksForward: true,
    })
  })
})

describe('schemaChanges', () => {
  it('returns the changes of a newer Version, also between the documents that services serve', () => {
    const served = schemaDocuments()
    const newer = structuredClone(served.get(event)) as Rules
    const [field = ''] = newer.required as string[]
    newer.required = (newer.required as string[]).slice(1)
    const changes = schemaChanges(
      new Map([...served, ['events/OrderCreated.2.json', newer]]),
      event,
      'events/OrderCreated.2.json',
    )
    const message = 'is no longer required'
    expect(changes).to.deep.equal([{ pointer: `/${field}`, message, breaksBackward: false, breaksForward: true }])
  })
})
