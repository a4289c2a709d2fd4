import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { whileHandling } from '../../src/telemetry/context.ts'
import { withoutValues } from '../../src/telemetry/mask.ts'
import { capturedLog } from '../../src/testing/captured-log.ts'

const orderId = '5f0c1d7a-2b3c-4d5e-8f90-a1b2c3d4e5f6'
const event = {
  Name: 'OrderCreated',
  TenantUserID: 'lovelace@example.com',
  Payload: {
    OrderId: orderId,
    CustomerName: 'Ada "Countess" Lovelace',
    CustomerTaxId: 'GB-42',
    Total: 42.5,
    Note: 'née Byron',
  },
}
const bytes = Buffer.from(JSON.stringify(event))

describe('while an event is handled', () => {
  const { CustomerName } = event.Payload
  const messages: Record<string, string> = {
    'a value as it is': `Cannot convert ${CustomerName} to a BigInt`,
    'in quotes and escaped': `no ${JSON.stringify(CustomerName)} here, nor ${inspect({ a: [CustomerName] })}`,
    'escaped twice': `no ${JSON.stringify(JSON.stringify(event))}`,
    'with line breaks that are escaped': JSON.stringify(`\nAda\tCountess\u0001Lovelace\u00a0`),
    'in a URL': `Invalid URL: /${encodeURIComponent(CustomerName)}?q=${CustomerName.replaceAll(' ', '+')}`,
    'a part of one': 'Unexpected end near "ntess\\" Lovel"',
    'in another case': `unknown: ${CustomerName.toUpperCase()}`,
    'in a path': '/home/lovelace/example.com',
    'of a field that nobody knows': 'né: Byron',
    'short ones': 'GB 42',
  }
  it('an id is told whole, though a part of it stands in a value by chance', () => {
    const document = { Payload: { Note: `x${orderId.slice(14, 18)}x`, Size: 12_401_904 } }
    const message = `the payment ${orderId} is there, at /v1/payments/${orderId}.`
    expect(whileHandling(document, () => withoutValues(message))).to.equal(message)
  })

  for (const [how, message] of Object.entries(messages)) {
    it(`no text tells of its values: ${how}`, () => {
      const told = whileHandling(bytes, () => withoutValues(message))
      expect(told)
        .to.contain('***')
        .and.not.to.match(/ada|count|ntess|love|byron|gb|42|example/i)
    })
  }

  it('a text keeps what it says of anything else, ids too', () => {
    const message = `TypeError: Cannot read properties of undefined (reading 'Total') of order ${orderId}`
    expect(whileHandling(bytes, () => withoutValues(message))).to.equal(message)
  })

  it('a value that may not be shown is none of a field that holds what it should', () => {
    const swapped = { ...event, Payload: { OrderId: 'GB-42', Total: 'Lovelace' } }
    expect(whileHandling(swapped, () => withoutValues('GB-42, Lovelace, OrderCreated'))).to.equal(
      '***-***, ***, OrderCreated',
    )
  })

  it('the log tells nothing of them either, from wherever it is written, and neither do others’ lines that come between', async () => {
    const { log, records } = capturedLog()
    const other = { Payload: { CustomerName: 'Grace' } }
    const tell = (document: object | Uint8Array) =>
      whileHandling(document, async () => {
        await delay(1)
        log.info({ err: new Error('Ada or Grace') }, 'stored for Ada or Grace')
      })
    await Promise.all([tell(bytes), tell(other)])
    const told = records.map(({ msg, err }) => [msg, (err as { message: string }).message])
    expect(told).to.deep.equal([
      ['stored for *** or Grace', '*** or Grace'],
      ['stored for Ada or ***', 'Ada or ***'],
    ])
  })

  it('bytes that are no JSON are all of them values', () => {
    expect(whileHandling(Buffer.from('{"CustomerName": Ada'), () => withoutValues('Ada failed'))).to.equal('*** failed')
  })

  it('hides a value of a document that is as wide as the largest record', () => {
    const name = 'Lovelace'
    const keys = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, index]))
    for (const wide of [Array(130_000).fill(1), keys, Array(60_000).fill({}), Array(60_000).fill([])]) {
      const document = { Payload: { CustomerName: name, wide } }
      expect(whileHandling(document, () => withoutValues(`${name} failed`))).to.equal('*** failed')
    }
  })

  it('what holds nothing personal changes no text', () => {
    for (const document of [undefined, null, '', {}, [], 5, Buffer.alloc(0), '['.repeat(100_000)]) {
      expect(whileHandling(document, () => withoutValues('as it was: 1'))).to.equal('as it was: 1')
    }
    expect(withoutValues('as it was')).to.equal('as it was')
  })
})
