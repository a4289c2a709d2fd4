import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { contractFolder, eventTypes, personalFields } from '../index.ts'

interface Schema {
  $id?: string
  title?: string
  description?: string
  properties?: Record<string, Schema>
  $defs?: Record<string, Schema>
  $ref?: string
}

const folder = new URL('schemas/', contractFolder)
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'))
const schemas = files.map((file): [string, Schema] => [file, JSON.parse(readFileSync(new URL(file, folder), 'utf8'))])
const common = new Map(schemas).get('common.json')

describe('the schemas', () => {
  for (const [file, schema] of schemas) {
    it(`${file} has an id that ends with the file's path, so a reference can use the id or the path`, () => {
      expect(schema.$id).to.equal(`https://orderflow.example/schemas/${file}`)
    })

    it(`${file} uses only patterns that mean the same in ECMA-262, Python, Java and RE2`, () => {
      for (const pattern of JSON.stringify(schema).matchAll(/"pattern":("(?:[^"\\\\]|\\\\.)*")/g)) {
        const text = JSON.parse(pattern[1] ?? '')
        expect(text).not.to.match(/\(\?|\\[^sx.]|\\u|[*+?}][*+?]/) // refuses (?, \u, possessive or lazy quantifiers, and escapes except \s, \x and \.
      }
    })

    it(`${file} has a title and description for itself and each field`, () => {
      for (const [name, field] of Object.entries({ schema, ...schema.properties, ...schema.$defs })) {
        const shared = field.title ? undefined : common?.$defs?.[field.$ref?.split('/').at(-1) ?? '']
        const { title, description } = shared ?? field
        expect(title, name).to.be.a('string').and.not.equal('')
        expect(description, name).to.be.a('string').and.not.equal('')
      }
    })
  }

  it('mark a field as personal if, and only if, the engine masks it', () => {
    const marks = schemas.flatMap(([file]) => readFileSync(new URL(file, folder), 'utf8').match(/"x-pii": true/g) ?? [])
    // All events have the same envelope, so each marked field of the envelope counts only once.
    const masked = eventTypes.flatMap((type) =>
      personalFields(type).map((pointer) => (pointer.startsWith('/Payload/') ? `${type} ${pointer}` : pointer)),
    )
    expect(new Set(masked)).to.have.property('size', marks.length)
  })
})
