import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type AsyncApiDocument,
  binaryMessage,
  cloudEventOf,
  fromCloudEvent,
  parseEvent,
  parseFullEnvelope,
  type ReceivedEnvelope,
  structuredMessage,
  toCloudEvent,
} from '@orderflow/envelope-schema'
import { repository } from '@orderflow/stack/base'
import { expect } from 'chai'
import { fixtures, type ValidFixture } from './fixtures.ts'
import { contractTools, type Message } from './tools.ts'

const text = readFileSync(join(repository, 'envelope-schema/asyncapi.json'), 'utf8')
const contract = JSON.parse(text) as AsyncApiDocument

let tools: Awaited<ReturnType<typeof contractTools>>
const loadTools = async () => {
  tools ??= await contractTools()
}

describe('envelope-schema/asyncapi.json', () => {
  before(loadTools)

  it('passes the official AsyncAPI parser without warnings', async () => {
    const { document, diagnostics } = await new tools.asyncApi.Parser().parse(text)
    expect(document).to.be.an('object')
    // Severity 2 means information, for example about a newer AsyncAPI version.
    const found = diagnostics.filter(({ severity }) => severity < 2)
    expect(found.map(({ path, message }) => `${path.join('.')}: ${message}`)).to.deep.equal([])
  })

  it('fails in the official parser if a message is missing', async () => {
    const broken = text.replaceAll('"#/components/messages/OrderCreated.1.full"', '"#/components/messages/nowhere"')
    const { diagnostics } = await new tools.asyncApi.Parser().parse(broken)
    expect(diagnostics.some(({ severity }) => severity === 0)).to.equal(true)
  })
})

describe('the list of examples in asyncapi.json', () => {
  it('contains one valid example of each message', () => {
    for (const [id, { examples = [] }] of Object.entries(contract.components.messages)) {
      expect(examples, id).to.have.length(1)
      const parse = id.endsWith('.full') ? parseFullEnvelope : parseEvent
      for (const { payload } of examples)
        expect(`${payload.Name}.${payload.Version}`).to.equal(id.replace(/\.\w+$/, ''))
      for (const { payload } of examples) parse(Buffer.from(JSON.stringify(payload)))
    }
  })
})

const envelopes = fixtures<ValidFixture>('valid').map(({ file, envelope }) => ({
  file,
  envelope: envelope as unknown as ReceivedEnvelope,
}))
const origin = { topic: 'orderevents', partition: 1, offset: 7 }
const bytes = ({ value, body = value }: Message) => Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
const lowerCase = (headers: object) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))

describe('the conversion to CloudEvents', () => {
  before(loadTools)

  for (const { file, envelope } of envelopes) {
    it(`converts an envelope with the official SDK in each mode without loss: ${file}`, () => {
      const { CloudEvent, Kafka, HTTP } = tools.cloudEvents
      const event = new CloudEvent(toCloudEvent(envelope, origin))
      for (const [kind, binding] of [
        ['kafka', Kafka],
        ['http', HTTP],
      ] as const) {
        for (const mode of ['binary', 'structured'] as const) {
          const written = binding[mode](event)
          const read = cloudEventOf({ headers: lowerCase(written.headers), body: bytes(written) }, kind)
          expect(fromCloudEvent(read), `${kind} ${mode}, theirs`).to.deep.equal(envelope)

          const own =
            mode === 'binary'
              ? binaryMessage(toCloudEvent(envelope, origin), kind)
              : structuredMessage(toCloudEvent(envelope, origin))
          const taken = binding.toEvent({ ...own, value: own.body })
          const data = typeof taken.data === 'string' ? JSON.parse(taken.data) : taken.data
          expect(data, `${kind} ${mode}, ours`).to.deep.equal(envelope)
          expect([taken.id, taken.type, taken.source]).to.deep.equal([
            toCloudEvent(envelope, origin).id,
            toCloudEvent(envelope, origin).type,
            toCloudEvent(envelope, origin).source,
          ])
        }
      }
      parseEvent(Buffer.from(JSON.stringify(fromCloudEvent(toCloudEvent(envelope, origin)))))
    })
  }
})
