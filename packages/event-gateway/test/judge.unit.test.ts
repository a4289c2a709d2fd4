import { parseEvent } from '@orderflow/envelope'
import { expect } from 'chai'
import { judge, maxEnvelopeBytes } from '../src/judge.ts'
import { envelope, full } from './envelopes.ts'

const judged = (text: string | object, mode: Parameters<typeof judge>[1] = 'receiver') =>
  judge(Buffer.from(typeof text === 'string' ? text : JSON.stringify(text)), mode)

describe('judge', () => {
  it('reports the variant of an envelope, and requires the full variant from publishers', () => {
    expect(judged(envelope())).to.include({ valid: true, variant: 'reduced' })
    expect(judged(full())).to.include({ valid: true, variant: 'full' })
    expect(judged(full(), 'publisher')).to.include({ valid: true })
    const { errors } = judged(envelope(), 'publisher')
    expect(errors.map(({ pointer }) => pointer)).to.deep.equal(['/Id', '/CorrelationId', '/TraceId'])
  })

  it('reports a duplicate key, even if its last value is valid', () => {
    const { AppId, ...rest } = envelope()
    const text = `{"AppId":"${crypto.randomUUID()}","AppId":"${AppId}",${JSON.stringify(rest).slice(1)}`
    expect(parseEvent(Buffer.from(text)).AppId).to.equal(AppId)
    expect(judged(text)).to.deep.include({ valid: false, variant: 'reduced', code: 'not-an-envelope' })
    expect(judged(text).errors).to.deep.equal([
      {
        pointer: '/AppId',
        message: 'has a key twice',
        hint: 'write each key once: programs differ in the value that they use',
      },
    ])
  })

  it('reports an amount with more digits than a JavaScript number can hold', () => {
    const text = (amount: string, note = 1) =>
      JSON.stringify(envelope({ Note: note })).replace(/"Total":10/, `"Total":${amount}`)
    expect(judged(text('999999999999.999999'))).to.deep.include({ valid: false, code: 'invalid-payload' })
    expect(judged(text('999999999999.999999')).errors.map(({ pointer }) => pointer)).to.deep.equal(['/Payload/Total'])
    expect(judged(text('-1e-400')).valid).to.equal(false)
    expect(judged(text('10.00')).valid).to.equal(true)
    expect(judged(text('10').replace('"Note":1', '"Note":9007199254740993')).valid).to.equal(true)
  })

  it('reports a duplicate unknown field with the pointer of its object, without the field name', () => {
    const { Payload, ...rest } = envelope()
    const text = `{"Payload":{"Ada Lovelace":1,"Ada Lovelace":2,${JSON.stringify(Payload).slice(1)},${JSON.stringify(rest).slice(1)}`
    expect(judged(text).errors.map(({ pointer }) => pointer)).to.deep.equal(['/Payload'])
  })

  it('reports an envelope that is too large, and does not parse it', () => {
    const sized = (bytes: number) => `${' '.repeat(bytes - JSON.stringify(full()).length)}${JSON.stringify(full())}`
    expect(judged(sized(maxEnvelopeBytes)).valid).to.equal(true)
    expect(judged(sized(maxEnvelopeBytes + 1))).to.deep.equal({
      valid: false,
      variant: null,
      code: 'too-large',
      errors: [
        {
          pointer: '',
          message: 'has 261121 bytes, but at most 261120 are allowed',
          hint: 'store large data elsewhere, and send its address in the event',
        },
      ],
      warnings: [],
    })
  })

  const wrong: Record<string, [text: string | Buffer, code: string, pointer: string]> = {
    'an empty text': ['', 'not-json', ''],
    'half of an envelope': ['{"AppId":', 'not-json', ''],
    'bytes that are not UTF-8': [Buffer.from([0x7b, 0xff, 0x7d]), 'not-utf8', ''],
    'a list': ['[]', 'not-an-envelope', ''],
    'a CloudEvent': ['{"specversion":"1.0","data":{}}', 'not-an-envelope', ''],
    'a NUL in a text': [JSON.stringify({ ...full(), AppName: 'a\0' }), 'not-an-envelope', '/AppName'],
    'a lone surrogate': [JSON.stringify({ ...full(), AppName: '\ud800' }), 'not-an-envelope', '/AppName'],
    'a number beyond a double': [
      JSON.stringify({ ...full(), Headers: { n: 0 } }).replace('"n":0', '"n":1e400'),
      'not-an-envelope',
      '/Headers/n',
    ],
    'deep nesting': [
      JSON.stringify({ ...full(), Headers: { a: JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`) } }),
      'not-an-envelope',
      '',
    ],
    'very deep nesting': [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'not-an-envelope', ''],
  }
  for (const [what, [text, code, pointer]] of Object.entries(wrong)) {
    it(`rejects ${what}, as receivers do`, () => {
      const { valid, errors, ...verdict } = judge(Buffer.from(text as string), 'receiver')
      expect([valid, verdict.code]).to.deep.equal([false, code])
      expect(errors.map((error) => error.pointer)).to.include(pointer)
    })
  }
})
