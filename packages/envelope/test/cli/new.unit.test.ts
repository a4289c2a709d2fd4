import { expect } from 'chai'
import { connectionOf } from '../../src/cli/connection.ts'
import { run as create } from '../../src/cli/new.ts'
import { correlationOf, shown, run as tail } from '../../src/cli/tail.ts'
import { validateDocument } from '../../src/index.ts'
import { keyOf, traceHeaders } from '../../src/kafka/record.ts'
import { app, bytesOf, orderCreated, reduced } from '../support/documents.ts'
import { run, usageError } from './run.ts'

const env = { ENVELOPE_APP_ID: app.id, ENVELOPE_APP_NAME: app.name }
const data = JSON.stringify(orderCreated)

describe('envelope new', () => {
  it('prints a full envelope in one line, with the newest Version and the current time by default', async () => {
    const cancelled = { OrderId: orderCreated.OrderId }
    const { code, out, error } = await run(create, ['OrderCancelled', '--data', JSON.stringify(cancelled)], { env })
    expect({ code, error }).to.deep.equal({ code: 0, error: '' })
    expect(out).to.match(/^\{.*\}\n$/)
    const envelope = JSON.parse(out)
    expect(validateDocument(envelope, 'publisher')).to.include({ valid: true, variant: 'full' })
    expect(envelope).to.deep.include({ AppId: app.id, AppName: app.name, Version: 1, Payload: cancelled })
  })

  it('reads its data from standard input, and all other values from options', async () => {
    const [id, trace, correlation] = [1, 2, 3].map((digit) => app.id.replace('0', `${digit}`))
    const ids = ['--id', id, '--trace-id', trace, '--correlation-id', correlation] as string[]
    const more = [
      '--app-id',
      app.id,
      '--app-name',
      'x',
      '--date',
      '2026-01-31T12:00:00+01:00',
      '--tenant',
      't',
      '--pretty',
    ]
    const { out } = await run(create, ['OrderCreated@1', '--data', '-', ...ids, ...more], { input: [data] })
    expect(JSON.parse(out)).to.include({
      Id: id,
      TraceId: trace,
      CorrelationId: correlation,
      AppName: 'x',
      CreationDate: '2026-01-31T11:00:00.000Z',
      TenantID: 't',
    })
    expect(out.split('\n').length).to.be.greaterThan(10)
  })

  it('rejects invalid data, and reports the same problems as other commands', async () => {
    const refused = async (args: string[]) => {
      const { code, out, error } = await run(create, args, { env })
      expect({ code, out }).to.deep.equal({ code: 1, out: '' })
      return error
    }
    const wrong = JSON.stringify({ ...orderCreated, Total: -1 })
    expect(await refused(['OrderCreated@1', '--data', wrong])).to.equal(
      'OrderCreated@1: /Payload/Total must be at least 0\n',
    )
    expect(await refused(['OrderCreated', '--data', '{"a":Ada}'])).to.equal('OrderCreated: the document is not JSON\n')
    expect(await refused(['OrderCreated@9', '--data', data])).to.match(
      /^OrderCreated@9: \/Version is not a known version; /,
    )
  })

  it('names each missing argument', async () => {
    expect(await usageError(run(create, ['ordercreated', '--data', data], { env }))).to.match(
      /\(did you mean OrderCreated\?\)/,
    )
    expect(await usageError(run(create, ['OrderCreated'], { env }))).to.match(/^no data:/)
    expect(await usageError(run(create, ['OrderCreated', '--data', data]))).to.match(/ENVELOPE_APP_ID/)
    expect(await usageError(run(create, ['OrderCreated', '--data', '@/nowhere'], { env }))).to.match(/ENOENT/)
    expect(await usageError(run(create, [], { env }))).to.match(/^name one event/)
  })

  it('rejects an impossible date and a date without offset', async () => {
    const refusalOf = (date: string) =>
      usageError(run(create, ['OrderCreated', '--data', data, '--date', date], { env }))
    expect(await refusalOf('2026-02-30T00:00:00Z')).to.equal(
      '--date must be a date-time with an offset, such as 2026-01-31T12:00:00Z; name a day that exists: this month is shorter',
    )
    expect(await refusalOf('2026-02-28')).to.match(/; add the time and an offset, such as T00:00:00Z$/)
    expect(await refusalOf('2026-02-28T10:00')).to.match(/; add Z or an offset/)
    expect(await refusalOf('yesterday')).to.match(/^--date must be/)
  })
})

describe('the record of a published envelope', () => {
  it('takes its key from the OrderId or another field, or has no key', () => {
    expect(keyOf(reduced())).to.equal(orderCreated.OrderId)
    expect(keyOf({ Payload: { ParcelId: 7 } }, 'ParcelId')).to.equal('7')
    for (const document of [null, 1, {}, { Payload: null }, { Payload: 'OrderId' }, { Payload: { OrderId: {} } }]) {
      expect(keyOf(document)).to.equal(undefined)
    }
    expect(keyOf({ Payload: {} }, 'constructor')).to.equal(undefined)
  })

  it('contains a traceparent with the TraceId and a new span id, if the envelope has a TraceId', () => {
    const [one, other] = [1, 2].map(() => traceHeaders({ TraceId: app.id.toUpperCase() }).traceparent)
    expect(one).to.match(new RegExp(`^00-${app.id.replaceAll('-', '')}-[0-9a-f]{16}-01$`))
    expect(other).not.to.equal(one)
    expect(traceHeaders(reduced())).to.deep.equal({})
  })
})

describe('the connection to Kafka', () => {
  const options = { brokers: 'a:1,b:2', topic: 't' }
  const of = (values: Parameters<typeof connectionOf>[0], own: NodeJS.ProcessEnv = {}) => connectionOf(values, own)
  const refusalOf = (...args: Parameters<typeof of>) => usageError((async () => of(...args))())

  it('uses the environment if an option is missing', () => {
    expect(of(options)).to.deep.equal({ topic: 't', address: { bootstrapBrokers: ['a:1', 'b:2'] } })
    expect(of({}, { ENVELOPE_BROKERS: 'c:3', ENVELOPE_TOPIC: 'u' }).address.bootstrapBrokers).to.deep.equal(['c:3'])
    expect(of({ ...options, brokers: ' a:1 , b:2,' }).address.bootstrapBrokers).to.deep.equal(['a:1', 'b:2'])
    expect(of({}, { ENVELOPE_BROKERS: 'c:3, d:4', ENVELOPE_TOPIC: 'u' }).address.bootstrapBrokers).to.deep.equal([
      'c:3',
      'd:4',
    ])
    expect(of({ ...options, tls: true }).address.tls).to.deep.equal({})
  })

  it('uses TLS if a username is set, unless TLS is disabled', () => {
    const password = { ENVELOPE_PASSWORD: 'p' }
    const sasl = { mechanism: 'SCRAM-SHA-512', username: 'u', password: 'p' }
    expect(of({ ...options, username: 'u' }, password).address).to.deep.include({ sasl, tls: {} })
    expect(of({ ...options, username: 'u', 'no-tls': true }, password).address).not.to.have.property('tls')
    expect(of({ ...options, username: 'u' }, { ...password, ENVELOPE_TLS: 'false' }).address).not.to.have.property(
      'tls',
    )
  })

  it('names each missing option, and rejects a password on the command line', async () => {
    expect(await refusalOf({})).to.match(/ENVELOPE_BROKERS/)
    expect(await refusalOf({ brokers: 'a:1' })).to.match(/ENVELOPE_TOPIC/)
    expect(await refusalOf({ ...options, brokers: 'a' })).to.equal('--brokers: a is not HOST:PORT')
    expect(await refusalOf({ ...options, username: 'u' })).to.match(/ENVELOPE_PASSWORD or --password-file/)
    expect(await refusalOf({ ...options, username: 'u', 'password-file': '/nowhere' })).to.match(/ENOENT/)
    expect(await refusalOf({ ...options, username: 'u', mechanism: 'GSSAPI' }, { ENVELOPE_PASSWORD: 'p' })).to.match(
      /PLAIN/,
    )
  })
})

describe('the output of envelope tail', () => {
  const options = { correlation: undefined, pretty: false, values: false }
  const record = (value: unknown, key = 'Ada') => ({
    topic: 't',
    partition: 1,
    offset: 2n,
    key: Buffer.from(key),
    value: value === null ? null : Buffer.from(bytesOf(value)),
  })
  const show = (value: unknown, more = {}) => JSON.parse(shown(record(value), { ...options, ...more }))

  it('masks values and keys, unless all values are requested', () => {
    const { key, envelope } = show(reduced())
    expect(key).to.equal('***')
    expect(envelope.Payload).to.deep.equal({
      ...orderCreated,
      CustomerName: '*** (12 characters)',
      CustomerTaxId: '*** (12 characters)',
    })
    const open = show(reduced(), { values: true })
    expect(open).to.deep.equal({ topic: 't', partition: 1, offset: '2', key: 'Ada', envelope: reduced() })
  })

  it('shows the problems of a record that is not JSON or nests too deep', () => {
    expect(show(null).problems[0].message).to.equal('is empty')
    expect(show('{"a":Ada', { values: true }).problems).to.deep.equal([{ pointer: '', message: 'is not JSON' }])
    expect(show(`${'['.repeat(99_999)}${']'.repeat(99_999)}`).problems[0].message).to.match(/nests deeper/)
  })

  it('selects events by CorrelationId, even if the event spells the GUID in another way', () => {
    for (const id of [app.id.toUpperCase(), app.id.replaceAll('-', ''), `{${app.id}}`, `urn:uuid:${app.id}`])
      expect(shown(record({ CorrelationId: id }), { ...options, correlation: app.id }), id).not.to.equal('')
  })

  it('accepts every usual spelling of a CorrelationId as the option', async () => {
    for (const id of [app.id.toUpperCase(), app.id.replaceAll('-', ''), `{${app.id}}`, `urn:uuid:${app.id}`])
      expect(correlationOf(id), id).to.equal(app.id)
    expect(correlationOf(undefined)).to.equal(undefined)
    const refused = run(tail, ['--brokers', 'a:1', '--topic', 't', '--correlation', 'abc'])
    expect(await usageError(refused)).to.match(/^--correlation is not a GUID/)
  })

  it('omits records of other conversations', () => {
    const of = (document: unknown) => shown(record(document), { ...options, correlation: app.id })
    expect(of({ CorrelationId: app.id })).to.contain(app.id)
    for (const other of [reduced(), null, 'x', { CorrelationId: 1 }]) expect(of(other)).to.equal('')
  })
})
