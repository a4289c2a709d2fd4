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
    Total: 7.5,
    Note: 'née Byron',
  },
}
const bytes = Buffer.from(JSON.stringify(event))

describe('withoutValues, while an event is handled', () => {
  const { CustomerName } = event.Payload
  const messages: Record<string, string> = {
    unchanged: `Cannot convert ${CustomerName} to a BigInt`,
    'in quotes and escaped': `no ${JSON.stringify(CustomerName)} here, nor ${inspect({ a: [CustomerName] })}`,
    'escaped twice': `no ${JSON.stringify(JSON.stringify(event))}`,
    'with escaped line breaks': JSON.stringify(`\nAda\tCountess\u0001Lovelace\u00a0`),
    'in a URL': `Invalid URL: /${encodeURIComponent(CustomerName)}?q=${CustomerName.replaceAll(' ', '+')}`,
    'in part': 'Unexpected end near "ntess\\" Lovel"',
    'in another case': `unknown: ${CustomerName.toUpperCase()}`,
    'in a path': '/home/lovelace/example.com',
    'of an unknown field': 'né: Byron',
    'short values': 'GB 42',
  }
  it('keeps a complete id, even if a part of the id also occurs in a value', () => {
    const document = { Payload: { Note: `x${orderId.slice(14, 18)}x`, Size: 12_401_904 } }
    const message = `the payment ${orderId} is there, at /v1/payments/${orderId}.`
    expect(whileHandling(document, () => withoutValues(message))).to.equal(message)
  })

  for (const [how, message] of Object.entries(messages)) {
    it(`masks values of the event: ${how}`, () => {
      const told = whileHandling(bytes, () => withoutValues(message))
      expect(told)
        .to.contain('***')
        .and.not.to.match(/ada|count|ntess|love|byron|gb|42|example/i)
    })
  }

  it('keeps texts and ids that do not occur in the event', () => {
    const message = `TypeError: Cannot read properties of undefined (reading 'Total') of order ${orderId}`
    expect(whileHandling(bytes, () => withoutValues(message))).to.equal(message)
  })

  it('keeps a single character or a small number that is only a part of a value', () => {
    const document = { Payload: { CustomerName: 'J Byron', CustomerTaxId: 'US-1-42' } }
    for (const message of ['by amount-limit@1', 'after 42 ms', 'plan J, step 7'])
      expect(whileHandling(document, () => withoutValues(message))).to.equal(message)
  })

  const shortParts: Record<string, [values: object, message: string, masked: string]> = {
    'in a whole value': [{ CustomerTaxId: 'US-1-42' }, 'no US-1-42', 'no ***-***-***'],
    'in a value that is escaped': [{ CustomerTaxId: 'US/1' }, 'no US%2F1, nor US\\n1', 'no ***%2F***, nor ***\\n***'],
    'at the begin of a value': [{ CustomerName: 'J. R. Byron' }, 'no J. R. Byron', 'no ***. ***. ***'],
    'in a value of letters': [{ CustomerName: 'A-B' }, 'no A-B', 'no ***-***'],
    'that is a value': [{ CustomerName: ' x ', CustomerTaxId: '7' }, 'no x, nor 7', 'no ***, nor ***'],
    'that is not ASCII': [{ CustomerName: '王 小明' }, 'no 王', 'no ***'],
  }
  for (const [where, [Payload, message, masked]] of Object.entries(shortParts)) {
    it(`masks a single character or a small number ${where}`, () => {
      expect(whileHandling({ Payload }, () => withoutValues(message))).to.equal(masked)
    })
  }

  it('masks values in fields whose type is wrong', () => {
    const swapped = { ...event, Payload: { OrderId: 'GB-42', Total: 'Lovelace' } }
    expect(whileHandling(swapped, () => withoutValues('GB-42, Lovelace, OrderCreated'))).to.equal(
      '***-***, ***, OrderCreated',
    )
  })

  it('masks in each log line the values of the event that is being handled, but not the values of other events', async () => {
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

  it('masks all words of bytes that are not JSON', () => {
    expect(whileHandling(Buffer.from('{"CustomerName": Ada'), () => withoutValues('Ada failed'))).to.equal('*** failed')
  })

  it('masks values of a document with the largest possible number of fields', () => {
    const name = 'Lovelace'
    const keys = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, index]))
    for (const wide of [Array(130_000).fill(1), keys, Array(60_000).fill({}), Array(60_000).fill([])]) {
      const document = { Payload: { CustomerName: name, wide } }
      expect(whileHandling(document, () => withoutValues(`${name} failed`))).to.equal('*** failed')
    }
  })

  it('keeps every text if the document has no personal data', () => {
    for (const document of [undefined, null, '', {}, [], 5, Buffer.alloc(0), '['.repeat(100_000)]) {
      expect(whileHandling(document, () => withoutValues('as it was: 1'))).to.equal('as it was: 1')
    }
    expect(withoutValues('as it was')).to.equal('as it was')
  })
})
