import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { expect } from 'chai'
import { bundle, contractFolder, eventTypes, parseEvent, parseFullEnvelope, schemaDocuments } from '../src/index.ts'
import { bytesOf } from './support/documents.ts'

function validator() {
  const ajv = new Ajv2020({ allErrors: true })
  for (const name of ['date', 'date-time'] as const) ajv.addFormat(name, fullFormats[name])
  ajv.addKeyword('x-pii')
  return ajv
}

/** Every document of the fixtures that is JSON and within the limits that no schema can say. */
function documents(): Record<string, unknown>[] {
  return ['valid', 'invalid'].flatMap((kind) => {
    const folder = new URL(`fixtures/${kind}/`, contractFolder)
    return readdirSync(folder).flatMap((file) => {
      const fixture = JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
      const document = fixture.envelope ?? fixture.input
      return typeof document === 'object' && document !== null && !JSON.stringify(document).includes('\\u0000')
        ? [document]
        : []
    })
  })
}

const passes = (parse: (bytes: Uint8Array) => unknown, document: unknown) => {
  try {
    return parse(bytesOf(document)) !== undefined
  } catch {
    return false
  }
}

describe('the schemas by their paths', () => {
  it('are all files, and one without references for each event type and variant', () => {
    const paths = [...schemaDocuments().keys()]
    expect(paths).to.include.members(['common.json', 'envelope.full.json', 'events/OrderCreated.1.json'])
    expect(paths.filter((path) => path.startsWith('bundled/'))).to.have.length(2 * eventTypes.length)
  })

  it('have a title of their own, and what they share in order, where they are without references', () => {
    const { title, $defs } = bundle('OrderCreated@1', 'full')
    expect(title).to.match(/^OrderCreated.*: .*nvelope/)
    expect(Object.keys($defs)).to.deep.equal(Object.keys($defs).toSorted())
    expect(Object.keys($defs)).to.have.length.above(2)
  })

  it('refer to each other where they are served', () => {
    const base = 'http://localhost:5020/schemas/'
    const documents = schemaDocuments(base)
    const ajv = validator()
    for (const document of documents.values()) ajv.addSchema(document)
    for (const path of documents.keys()) expect(ajv.getSchema(base + path), path).to.be.a('function')
    expect(JSON.stringify([...documents.values()].map(({ $id }) => $id))).not.to.contain('orderflow.example')
  })
})

describe('a schema without references', () => {
  for (const type of eventTypes) {
    for (const [variant, parse] of [
      ['full', parseFullEnvelope],
      ['received', parseEvent],
    ] as const) {
      it(`says of every fixture what the validator says: ${type}, ${variant}`, () => {
        const [Name, version] = type.split('@')
        const check = validator().compile(bundle(type, variant))
        for (const document of documents()) {
          const isOfType = document.Name === Name && document.Version === Number(version)
          expect(check(document), JSON.stringify(document)).to.equal(isOfType && passes(parse, document))
        }
      })
    }
  }
})
