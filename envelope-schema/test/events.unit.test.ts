import { expect } from 'chai'
import {
  createEnvelope,
  type Envelope,
  eventTypes,
  examplePayload,
  fieldSchema,
  payloadFields,
  upcast,
  validateDocument,
} from '../index.ts'
import { fixturesIn } from './support/documents.ts'

const openApi30 = [
  'type',
  'format',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'enum',
  'pattern',
  'description',
  'x-pii',
]

const exampleOf = (type: (typeof eventTypes)[number]) =>
  createEnvelope({
    type,
    app: { id: '0d4f1d0e-6d0e-4f3c-8a51-5b1f0a8b7c6d', name: 'an-application' },
    creationDate: new Date('2026-11-21T10:00:00Z'),
    payload: examplePayload(type),
  })

describe('the events of the contract', () => {
  for (const type of eventTypes) {
    it(`the example of ${type} matches its schema`, () => {
      expect(validateDocument(exampleOf(type), 'publisher').errors).to.deep.equal([])
    })

    it(`the fields of ${type} use only keywords of OpenAPI 3.0`, () => {
      for (const field of payloadFields(type)) {
        const schema = fieldSchema(type, field)
        expect(openApi30, field).to.include.members(Object.keys(schema))
        expect(schema, field).to.include.keys('type', 'description')
      }
    })
  }

  it('upcast converts all examples and valid fixtures to the newest version', () => {
    const fixtures = fixturesIn<{ envelope?: Envelope }>('valid').flatMap(({ envelope }) => envelope ?? [])
    expect(fixtures).not.to.deep.equal([])
    for (const each of [...fixtures, ...eventTypes.map(exampleOf)]) expect(() => upcast(each as never)).not.to.throw()
  })
})
