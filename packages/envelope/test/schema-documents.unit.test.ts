import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { expect } from 'chai'
import { bundle, eventTypes, schemaDocuments } from '../src/index.ts'

function validator() {
  const ajv = new Ajv2020({ allErrors: true })
  for (const name of ['date', 'date-time'] as const) ajv.addFormat(name, fullFormats[name])
  ajv.addKeyword('x-pii')
  return ajv
}

describe('schemaDocuments', () => {
  it('returns all files, and a bundled schema for each event type and variant', () => {
    const paths = [...schemaDocuments().keys()]
    expect(paths).to.include.members(['common.json', 'envelope.full.json', 'events/OrderCreated.1.json'])
    expect(paths.filter((path) => path.startsWith('bundled/'))).to.have.length(2 * eventTypes.length)
  })

  it('gives a bundled schema its own title, and sorts its shared rules', () => {
    const { title, $defs } = bundle('OrderCreated@1', 'full')
    expect(title).to.match(/^OrderCreated.*: .*nvelope/)
    expect(Object.keys($defs)).to.deep.equal(Object.keys($defs).toSorted())
    expect(Object.keys($defs)).to.have.length.above(2)
  })

  it('writes references that resolve at the address of the served schemas', () => {
    const base = 'http://localhost:5020/schemas/'
    const documents = schemaDocuments(base)
    const ajv = validator()
    for (const document of documents.values()) ajv.addSchema(document)
    for (const path of documents.keys()) expect(ajv.getSchema(base + path), path).to.be.a('function')
    expect(JSON.stringify([...documents.values()].map(({ $id }) => $id))).not.to.contain('orderflow.example')
  })
})
