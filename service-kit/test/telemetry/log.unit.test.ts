import { expect } from 'chai'
import { capturedLog } from '../../src/testing/captured-log.ts'

describe('log', () => {
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

  it('masks names, tax ids and credentials down to the third level, and nothing else', () => {
    const { log, records } = capturedLog()
    const orderId = '5f0c1d7a-2b3c-4d5e-8f90-a1b2c3d4e5f6'
    log.info({ ...sensitive, orderId, event: { ...sensitive, Name: 'OrderCreated', Payload: sensitive } }, 'seen')
    expect(records[0]).to.deep.include({ ...masked, orderId, app: 'test', level: 'info' })
    expect(records[0]?.event).to.deep.equal({ ...masked, Name: 'OrderCreated', Payload: masked })
  })

  it('leaves the text of a message alone', () => {
    const { log, records } = capturedLog()
    log.info({ token: 'x' }, 'the token and CustomerName are missing')
    expect(records[0]).to.include({ token: '***', msg: 'the token and CustomerName are missing' })
  })
})
