import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { type ContractError, readEventSchemas, supportedFormats } from '../src/schemas/event-schemas.ts'
import { commonSchema } from '../src/schemas/schemas.ts'
import { compilePayload, sharedAjv } from '../src/validation/ajv.ts'
import { toProblems } from '../src/validation/problems.ts'

const rule = (name: string) => ({ $ref: `../common.json#/$defs/${name}` })
const schemaOf = (properties: object, more: object = {}) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://orderflow.example/schemas/events/RoomBooked.1.json',
  type: 'object',
  properties,
  ...more,
})

describe('readEventSchemas', () => {
  const folder = mkdtempSync(join(tmpdir(), 'events-'))
  after(() => rmSync(folder, { recursive: true }))

  function problemsOf(schema: unknown, file = 'RoomBooked.1.json'): readonly string[] {
    const path = join(folder, file)
    writeFileSync(path, typeof schema === 'string' ? schema : JSON.stringify(schema))
    try {
      readEventSchemas(pathToFileURL(`${folder}/`), commonSchema)
      return []
    } catch (error) {
      return (error as ContractError).problems
    } finally {
      rmSync(path)
    }
  }
  const at = 'envelope-schema/schemas/events/RoomBooked.1.json: /properties/X'

  it('reads schemas with lists, objects and shared rules', () => {
    const tags = { type: 'array', items: rule('guid'), maxItems: 100, uniqueItems: true }
    const guest = { type: 'object', properties: { Name: { ...rule('name'), 'x-pii': true } } }
    expect(problemsOf(schemaOf({ tags, guest, when: rule('dateTime'), day: rule('date'), any: {} }))).to.deep.equal([])
  })

  it('reads the schema that docs/own-application.md shows', () => {
    const guide = readFileSync(new URL('../../../docs/own-application.md', import.meta.url), 'utf8')
    const [, schema = ''] = /^```json\n(.*?)^```$/ms.exec(guide) ?? []
    expect(problemsOf(schema)).to.deep.equal([])
    expect(compileProblems(JSON.parse(schema))).to.deep.equal([])
  })

  const wrong: [what: string, field: unknown, problem: string][] = [
    [
      'a format',
      { type: 'string', format: 'time' },
      '/format: "time" is not supported; use date or date-time, "pattern", or for an id "$ref": "../common.json#/$defs/guid"',
    ],
    [
      'the format of a GUID',
      { type: 'string', format: 'uuid' },
      '/format: "uuid" is not supported; use date or date-time, "pattern", or for an id "$ref": "../common.json#/$defs/guid"',
    ],
    [
      'a closed object',
      { type: 'object', additionalProperties: false },
      '/additionalProperties: is not supported; remove it, because all objects are open',
    ],
    [
      'several types',
      { type: ['string', 'null'] },
      '/type: must be one type; leave a field that may be missing out of "required"',
    ],
    [
      'personal data in a list',
      { type: 'array', items: { type: 'string', 'x-pii': true } },
      '/items/x-pii: has no effect inside a list; write it next to the "items" of the list',
    ],
    [
      'unique items without a limit',
      { type: 'array', uniqueItems: true },
      '/uniqueItems: compares each item with each other item; add "maxItems" of at most 100',
    ],
    [
      'unique items with a large limit, inside another list',
      { type: 'array', items: { type: 'array', uniqueItems: true, maxItems: 101 } },
      '/items/uniqueItems: compares each item with each other item; add "maxItems" of at most 100',
    ],
    [
      'a pattern of exponential time',
      { type: 'string', pattern: '^([A-Z]+)+$', maxLength: 10 },
      '/pattern: "^([A-Z]+)+$" can take minutes for one long text, because it can read the same characters in many ways; begin it with ^, and let only one repetition match each character',
    ],
    [
      'a pattern with a lookahead inside "not"',
      { type: 'string', not: { type: 'string', pattern: '^(?=.*a)b' } },
      '/not/pattern: "^(?=.*a)b" has a lookahead, lookbehind, modifier or back reference, which not every language has; use "not" with a second "pattern"',
    ],
    ['no schema', true, ': is not a schema; write an object such as { "type": "string" }'],
  ]
  for (const [what, field, problem] of wrong) {
    it(`reports ${what} with its path and an alternative`, () => {
      expect(problemsOf(schemaOf({ X: field }))).to.deep.equal([`${at}${problem}`])
    })
  }

  it('reports an unknown keyword or reference, and lists the known ones', () => {
    const [keyword = '', reference = ''] = problemsOf(schemaOf({ X: { oneOf: [] }, Y: rule('email') }))
    expect(keyword).to.match(
      /^\S+: \/properties\/X\/oneOf: is not supported; remove it, or use one of \$ref, type, enum, /,
    )
    expect(reference).to.match(
      /^\S+: \/properties\/Y\/\$ref: "\S+email" is not a rule of common.json; use .* one of guid, .*, date, /,
    )
  })

  it('reports a file that is not JSON, has a wrong name, or has the id of another file', () => {
    expect(problemsOf('{')[0]).to.match(/^envelope-schema\/schemas\/events\/RoomBooked\.1\.json: is not JSON: /)
    const names = problemsOf(schemaOf({}), 'RoomBooked.json')
    expect(names[0]).to.equal(
      'envelope-schema/schemas/events/RoomBooked.json: is not named after an event and its version; rename it to <Name>.<Version>.json',
    )
    expect(names[1]).to.equal(
      'envelope-schema/schemas/events/RoomBooked.json: /$id: must be https://orderflow.example/schemas/events/RoomBooked.json',
    )
  })

  function compileProblems(schema: object): readonly string[] {
    try {
      compilePayload('RoomBooked@1', schema)
      return []
    } catch (error) {
      return (error as ContractError).problems
    }
  }

  it('reports a keyword with a wrong value, and a keyword that requires a type in the schema', () => {
    expect(compileProblems({ type: 'object', required: 'X' })).to.deep.equal([
      'envelope-schema/schemas/events/RoomBooked.1.json: /required: must be array',
    ])
    expect(compileProblems({ type: 'object', properties: { X: { maxLength: 3 } } })).to.deep.equal([
      `${at}: missing type "string" for keyword "maxLength"`,
    ])
    expect(compileProblems({ type: 'string', pattern: '(' })[0]).to.match(
      /RoomBooked\.1\.json: Invalid regular expression/,
    )
  })
})

describe('uniqueItems', () => {
  const validate = sharedAjv().compile({ type: 'array', items: { type: 'object' }, maxItems: 100, uniqueItems: true })
  const keywords = (list: unknown[]) => (validate(list) ? [] : (validate.errors ?? []).map(({ keyword }) => keyword))

  it('rejects equal items', () => {
    expect(keywords([{ a: 1 }, { a: 1 }])).to.deep.equal(['uniqueItems'])
    expect(keywords([{ a: 1 }, { a: 2 }])).to.deep.equal([])
  })

  it('compares no items of a list that is too long', () => {
    expect(keywords(Array.from({ length: 101 }, () => ({})))).to.deep.equal(['maxItems'])
  })
})

describe('the format date', () => {
  const ajv = sharedAjv()
  const common = ajv.compile({ $ref: `${commonSchema.$id}#/$defs/date` })
  const plain = ajv.compile({ type: 'string', format: 'date' })

  it('belongs to the supported formats', () => expect(supportedFormats).to.include('date'))

  for (const day of ['2026-12-24', '2024-02-29', '0001-01-01', '9999-12-31']) {
    it(`accepts the date ${day}`, () => expect([common(day), plain(day)]).to.deep.equal([true, true]))
  }

  const exists = 'must be a date such as 2026-01-31'
  const wrong: [value: unknown, problem: string, hint?: string][] = [
    ['2026-02-30', exists, 'name a day that exists: this month is shorter'],
    ['2025-02-29', exists, 'name a day that exists: this month is shorter'],
    ['2026-04-00', exists, 'name a day that exists: this month is shorter'],
    ['2026-13-01', exists, 'give a month from 01 to 12'],
    ['0000-01-01', exists, 'give a year from 0001 to 9999'],
    ['2026-12-24T00:00:00Z', exists, 'remove the time, and send the date alone'],
    ['2026-12-24\n', exists, 'remove the white space around it'],
    ['24.12.2026', exists, 'write year, month and day in this order, with hyphens and two digits'],
    ['2026-1-5', exists, 'write year, month and day in this order, with hyphens and two digits'],
    ['', exists],
    [20261224, 'must be a string, not a number'],
  ]
  for (const [value, message, hint] of wrong) {
    it(`rejects the date ${JSON.stringify(value)}`, () => {
      for (const validate of [common, plain]) {
        expect(validate(value)).to.equal(false)
        expect(toProblems(validate.errors ?? [])).to.deep.equal([{ pointer: '', message, ...(hint && { hint }) }])
      }
    })
  }
})
