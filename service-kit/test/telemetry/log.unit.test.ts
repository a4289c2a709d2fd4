import { expect } from 'chai'
import { createLog } from '../../src/telemetry/log.ts'

/** A log and the records written to it so far. */
function captured(personal: readonly string[] = []) {
  const records: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void records.push(JSON.parse(line)) }
  return { log: createLog('test', 'info', { personal, destination }), records }
}

describe('log', () => {
  const personal = ['customerName', 'CustomerName', 'customerTaxId', 'CustomerTaxId']
  const sensitive = {
    customerName: 'Ada',
    CustomerName: 'Ada',
    customerTaxId: 'GB-1',
    CustomerTaxId: 'GB-1',
    token: 's3cret',
    Token: 's3cret',
    password: 's3cret',
    ConnectionString: 's3cret',
    authorization: 's3cret',
  }
  const masked = Object.fromEntries(Object.keys(sensitive).map((key) => [key, '***']))

  it('masks credentials and what its service calls personal down to the third level, and nothing else', () => {
    const { log, records } = captured(personal)
    const orderId = '5f0c1d7a-2b3c-4d5e-8f90-a1b2c3d4e5f6'
    log.info({ ...sensitive, orderId, event: { ...sensitive, Name: 'OrderCreated', Payload: sensitive } }, 'seen')
    expect(records[0]).to.deep.include({ ...masked, orderId, app: 'test', level: 'info' })
    expect(records[0]?.event).to.deep.equal({ ...masked, Name: 'OrderCreated', Payload: masked })
  })

  it('leaves the text of a message alone', () => {
    const { log, records } = captured()
    log.info({ token: 'x' }, 'the token and CustomerName are missing')
    expect(records[0]).to.include({ token: '***', msg: 'the token and CustomerName are missing' })
  })

  it('knows no field of any domain by itself', () => {
    const { log, records } = captured()
    log.info({ CustomerName: 'Ada', password: 'x' })
    expect(records[0]).to.include({ CustomerName: 'Ada', password: '***' })
  })
})
