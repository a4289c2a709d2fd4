import { Ajv } from 'ajv'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { expect } from 'chai'
import { asyncApiDocument } from '../../src/index.ts'
import { reduced } from '../support/documents.ts'
import { traffic } from '../support/traffic.ts'

const { channels, operations, components } = asyncApiDocument(traffic)
const messagesOf = (id: string) => operations[id]?.messages.map(({ $ref }) => $ref.split('/').at(-1))

describe('asyncApiDocument', () => {
  it('lists each topic with its events in both variants', () => {
    expect(Object.keys(channels)).to.deep.equal(['orderevents', 'paymentevents'])
    expect(Object.keys(channels.orderevents?.messages ?? {})).to.include.members([
      'OrderCreated.1.full',
      'OrderCreated.1.received',
    ])
    expect(Object.keys(components.messages).filter((id) => id.startsWith('PaymentApproved'))).to.deep.equal([])
  })

  it('lists the full variant for services that send, the received variant for services that receive, and both for outside publishers', () => {
    expect(messagesOf('shop.send.orderevents'))
      .to.include('OrderCreated.1.full')
      .and.not.include('OrderCreated.1.received')
    expect(messagesOf('till.receive.orderevents'))
      .to.include('OrderCreated.1.received')
      .and.not.include('OrderCreated.1.full')
    expect(messagesOf('applications-outside.send.orderevents'))
      .to.include.members(['OrderCreated.1.full', 'OrderCreated.1.received'])
      .and.not.include('OrderCancelled.1.full')
  })

  it('includes events that only outside publishers write', () => {
    expect(messagesOf('applications-outside.send.paymentevents')).to.deep.equal([
      'OrderCancelled.1.full',
      'OrderCancelled.1.received',
    ])
    expect(Object.keys(channels.paymentevents?.messages ?? {})).to.include('OrderCancelled.1.full')
  })

  it('gives the received variant an example with only its six required fields', () => {
    const [example] = components.messages['OrderCreated.1.received']?.examples ?? []
    expect(example?.payload).to.deep.equal(reduced())
  })

  it('writes schemas of JSON Schema draft 7 that have no keywords next to a reference', () => {
    const ajv = new Ajv({ strict: false })
    for (const name of ['date', 'date-time'] as const) ajv.addFormat(name, fullFormats[name])
    const schema = { ...components.messages['OrderCreated.1.received']?.payload, components }
    const check = ajv.compile(schema)
    expect(check(reduced()), JSON.stringify(check.errors)).to.equal(true)
    expect(check(reduced({ CorrelationId: '00000000-0000-0000-0000-000000000000' }))).to.equal(false)
    expect(check(reduced({ AppId: `${reduced().AppId}\n` }))).to.equal(false)
    expect(check(reduced({ Version: 2 }))).to.equal(false)
    const besideRef = JSON.stringify(components).match(/\{[^{}]*"\$ref":"[^"]*"[^{}]*\}/g) ?? []
    for (const found of besideRef) expect(Object.keys(JSON.parse(found))).to.deep.equal(['$ref'])
  })
})
