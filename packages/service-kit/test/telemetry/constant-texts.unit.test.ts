import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { problemsOf } from '../../src/operations/dead-letters/records.ts'
import { addSources } from '../../src/telemetry/constant-texts.ts'
import { whileHandling } from '../../src/telemetry/context.ts'
import { contractMask, withoutValues } from '../../src/telemetry/mask.ts'

const source = `
// It doesn't matter that a comment has an apostrophe.
const reused = 'This key was already used with another body. Send a new key, or none.'
const unknown = (id: string) => \`There is no room \${id}. Choose another room of this house.\`
const escaped = "It isn\\'t a \\"key\\" of this house"
const example = { name: 'Ada King Lovelace', address: 'the House' }
const missing = (name: string) => \`\${name}: is missing; set it before the start\`
`

describe('a constant text of a service', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sources-'))
  before(() => {
    mkdirSync(join(folder, 'src/routes'), { recursive: true })
    writeFileSync(join(folder, 'src/routes/rooms.ts'), source)
    addSources(pathToFileURL(`${folder}/`))
    addSources(pathToFileURL(`${folder}/without-sources/`))
  })
  after(() => rmSync(folder, { recursive: true }))

  const masked = (values: object, text: string) => whileHandling({ Payload: values }, () => withoutValues(text))

  it('stays unchanged, even if a value of the document has the same words', () => {
    const text = 'This key was already used with another body. Send a new key, or none.'
    expect(masked({ CustomerName: 'New Key', CustomerTaxId: 'another body' }, text)).to.equal(text)
    const error = `Error: ${text}\n    at New Key`
    expect(masked({ CustomerName: 'New Key' }, error)).to.equal(`Error: ${text}\n    at *** ***`)
    const quoted = `It isn't a "key" of this house`
    expect(masked({ CustomerName: 'Key House' }, quoted)).to.equal(quoted)
  })

  it('masks the value that it quotes', () => {
    const text = 'There is no room Ada House. Choose another room of this house.'
    const expected = 'There is no room *** ***. Choose another room of this house.'
    expect(masked({ CustomerName: 'Ada House', CustomerTaxId: 'Room' }, text)).to.equal(expected)
  })

  it('does not include examples of names and addresses', () => {
    expect(masked({ CustomerName: 'Ada King Lovelace' }, 'no Ada King Lovelace')).to.equal('no *** *** ***')
    expect(masked({ CustomerName: 'House' }, 'no the House')).to.equal('no the ***')
  })

  it('stays unchanged after the name of a secret, and the value of a secret is masked', () => {
    const missing = 'Auth__ApiKeys: is missing; set it before the start'
    expect(contractMask.text(missing)).to.equal(missing)
    expect(contractMask.text('Auth__ApiKeys: abc; set it before the start')).to.equal(
      'Auth__ApiKeys: ***; set it before the start',
    )
  })

  it('stays unchanged in a dead letter of another service', () => {
    const detail = 'this OrderId already has an order with another payload'
    const value = Buffer.from(JSON.stringify({ Payload: { CustomerName: 'Payload Order' } }))
    const event = { detail, value, key: undefined, headers: [], appendedAt: 0 }
    expect(problemsOf(event, false)).to.deep.equal([detail])
    expect(problemsOf({ ...event, detail: 'no Payload Order' }, false)).to.deep.equal(['no *** ***'])
  })

  it('includes the texts of this package', () => {
    const text = 'The sidecar, its broker or its store does not answer. Try again.'
    expect(masked({ CustomerName: 'Store Broker' }, text)).to.equal(text)
  })
})
