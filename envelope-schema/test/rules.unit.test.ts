import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { expect } from 'chai'
import { bundle, type EventType, eventTypes } from '../index.ts'
import { fixturesIn } from './support/documents.ts'

type Schema = { [keyword: string]: unknown; properties?: Record<string, Schema>; $ref?: string }

/** Keywords that do not restrict values. */
const silent = ['$schema', '$id', '$defs', '$ref', 'title', 'description', 'examples', 'x-pii', 'properties']

/** Returns every rule of an event: the pointer of the field, and the keyword that limits the field. */
function rulesOf(type: EventType): Set<string> {
  const whole = bundle(type, 'full') as Schema
  const defs = whole.$defs as Record<string, Schema>
  const rules = new Set<string>()
  const walk = (schema: Schema, pointer: string) => {
    for (const keyword of Object.keys(schema)) if (!silent.includes(keyword)) rules.add(`${pointer} ${keyword}`)
    const target = schema.$ref && defs[schema.$ref.split('/').at(-1) ?? '']
    if (target) walk(target, pointer)
    for (const [name, field] of Object.entries(schema.properties ?? {})) walk(field, `${pointer}/${name}`)
  }
  walk(whole, '')
  // These rules select the schema of an event, so no fixture of this event can break them.
  for (const rule of ['/Name const', '/Version const', ' type']) rules.delete(rule)
  return rules
}

interface Fixture {
  envelope?: { Name?: unknown; Version?: unknown }
  input?: { Name?: unknown; Version?: unknown }
}

const documents = (kind: 'valid' | 'invalid') =>
  fixturesIn<Fixture>(kind).map(({ envelope, input = envelope }) => input)

const validOf = (type: string) =>
  documents('valid').filter((document) => `${document?.Name}@${document?.Version}` === type)

describe('the fixtures', () => {
  // A new event is checked only after it has a valid fixture.
  for (const type of eventTypes.filter((each) => validOf(each).length > 0)) {
    it(`contain, for each rule of ${type}, a document that breaks the rule, and valid documents of each variant`, () => {
      const ajv = new Ajv2020({ allErrors: true })
      for (const name of ['date', 'date-time'] as const) ajv.addFormat(name, fullFormats[name])
      ajv.addKeyword('x-pii')
      const check = ajv.compile(bundle(type, 'full'))
      const broken = new Set<string>()
      for (const document of documents('invalid')) {
        check(document)
        for (const { instancePath, keyword } of check.errors ?? []) broken.add(`${instancePath} ${keyword}`)
      }
      expect([...rulesOf(type)].filter((rule) => !broken.has(rule))).to.deep.equal([])
      expect(new Set(validOf(type).map((document) => check(document)))).to.deep.equal(new Set([true, false]))
    })
  }
})
