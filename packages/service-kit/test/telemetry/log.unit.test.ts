import { expect } from 'chai'
import { capturedLog } from '../../src/testing/captured-log.ts'

const orderId = '5f0c1d7a-2b3c-4d5e-8f90-a1b2c3d4e5f6'
const secret = 'SECRET-TAX-ID'

function logged(fields: object, message = 'seen') {
  const { log, records } = capturedLog()
  log.info(fields, message)
  expect(records).to.have.lengthOf(1)
  return { record: records[0] ?? {}, text: JSON.stringify(records) }
}

describe('createLog', () => {
  it('writes a line with level, time, app and fields', () => {
    const { record } = logged({ topic: 'orderevents', offset: '17', orderId, count: 3 }, 'the order is stored')
    const told = { level: 'info', app: 'test', topic: 'orderevents', offset: '17', orderId, count: 3 }
    expect(record).to.include({ ...told, msg: 'the order is stored' })
    expect(record.time).to.match(/^\d{4}-.*Z$/)
  })

  const named = ['CustomerName', 'customerName', 'customertaxid', 'CustomerTaxID', 'customer_tax_id', 'CutsomerName']
  const credentials = [
    'token',
    'Token',
    'SaslPassword',
    'ConnectionString',
    'authorization',
    'set-cookie',
    'X-Api-Key',
    'SigningKeys',
    'client_secret',
  ]
  for (const name of [...named, ...credentials]) {
    const ways: Record<string, object> = {
      'at the top': { [name]: secret },
      'five levels deep': { a: { b: { c: { d: { [name]: secret } } } } },
      'in a list': { list: [{ ok: 1 }, { [name]: [secret, { x: secret }] }] },
      'in a JSON text': { text: JSON.stringify({ a: [{ [name]: secret }] }) },
      'in a JSON text inside of another': { text: `got ${JSON.stringify(JSON.stringify({ [name]: secret, ok: 1 }))}` },
      'in a broken JSON text': { text: `{"${name}": "${secret}` },
      'in a query': { url: `/v1/orders?limit=1&${name}=${secret}&x=1` },
      'in a printed object': { text: `{ ${name.replace(/\W/g, '_')}: '${secret}', ok: 1 }` },
      'in an error': { err: new Error('failed', { cause: new Error(`for {"${name}":"${secret}"}`) }) },
      'on an error': { err: Object.assign(new Error('failed'), { [name]: secret, body: { [name]: secret } }) },
      'in a child of the log': {},
    }
    for (const [where, fields] of Object.entries(ways)) {
      it(`masks ${name} ${where}`, () => {
        expect(logged(fields).text).not.to.contain('SECRET')
      })
    }

    it(`masks ${name} in a message and in a field of a child log`, () => {
      expect(logged({}, `stored with ${name}=${secret}`).text).not.to.contain('SECRET')
      const { log, records } = capturedLog()
      log.child({ [name]: secret }).info('seen')
      expect(JSON.stringify(records)).to.contain('***').and.not.to.contain('SECRET')
    })
  }

  it('masks all fields of an event except the fields that may be shown according to the contract', () => {
    const Payload = { OrderId: orderId, Total: 1, Note: secret, nested: { deep: [secret] }, CustomerName: secret }
    const event = { Name: 'OrderCreated', Headers: { CausationId: orderId, who: secret }, Payload }
    const { record, text } = logged({ event })
    expect(text).not.to.contain('SECRET')
    expect(record.event).to.deep.include({ Name: 'OrderCreated' })
    expect(record.event).to.have.nested.include({ 'Payload.OrderId': orderId, 'Payload.Total': 1 })
    expect(record.event).to.have.nested.include({ 'Headers.CausationId': orderId })
    expect(logged({ payload: { ssn: secret }, headers: { cookie: secret, from: secret } }).text).not.to.contain(
      'SECRET',
    )
    expect(logged({ text: JSON.stringify({ Name: 'Foreign', Payload: { ssn: secret } }) }).text).not.to.contain(
      'SECRET',
    )
  })

  it('masks bytes, because they may be an event', () => {
    for (const value of [Buffer.from(secret), new Uint8Array(Buffer.from(secret))]) {
      expect(logged({ value }).record.value).to.equal('*** (bytes)')
    }
  })

  it('masks invalid JSON in the message of the parser’s error', () => {
    const { err } = logged({ err: thrownBy(() => JSON.parse(`[${secret}]`)) }).record as { err: { message: string } }
    expect(err).to.deep.include({ type: 'SyntaxError', message: 'the text is not valid JSON' })
  })

  it('keeps a text that only mentions the name of a field', () => {
    const problems = JSON.stringify([{ pointer: '/Payload/CustomerName', message: 'is missing' }])
    const { record } = logged({ token: 'x', detail: problems }, 'the token and CustomerName are missing')
    expect(record).to.include({ token: '***', detail: problems, msg: 'the token and CustomerName are missing' })
  })

  it('writes an error’s type, message, stack and causes', () => {
    const { err } = logged({ err: new TypeError('no', { cause: new Error('14 UNAVAILABLE: down') }) }).record as {
      err: Record<string, string>
    }
    expect(err).to.include({ type: 'TypeError', message: 'no: 14 UNAVAILABLE: down' })
    expect(err.stack).to.match(/^TypeError: no\n {4}at .*log\.unit\.test\.ts.*caused by: Error: 14 UNAVAILABLE/s)
  })

  it('cuts very long texts', () => {
    expect(String(logged({ text: 'a '.repeat(100_000) }).record.text)).to.have.length.below(9_000)
  })

  it('logs very deeply nested values', () => {
    const hostile = [
      'a',
      'a.',
      '\\',
      '"',
      ' ',
      'CustomerName',
      'CustomerName:',
      '{"CustomerName":{',
      'Unexpected token ',
    ]
    for (const piece of hostile) expect(logged({ text: piece.repeat(100_000) }).text).to.have.length.below(30_000)
  })
})

function thrownBy(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}
