import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { mayShowKey } from '../../../src/stream/log/record-key.ts'

describe('a record key', () => {
  const document = {
    Payload: { OrderId: randomUUID(), Policy: 'amount/limit@1', Amount: 12, CustomerName: 'Grace', Note: 'Hopper' },
  }
  const mayShow = (key: string | Buffer, fields: readonly string[], of: unknown = document) =>
    mayShowKey(Buffer.from(key), fields, of)

  it('shows a record key if it is a GUID, in any usual spelling', () => {
    const guid = randomUUID()
    for (const key of [guid, guid.toUpperCase(), `{${guid}}`, guid.replaceAll('-', '')])
      expect(mayShow(key, [], null), key).to.equal(true)
  })

  it('shows a key that is derived from fields of the event if each of these fields may be shown', () => {
    expect(mayShow('12', ['Amount'])).to.equal(true)
    expect(mayShow('amount/limit@1/12', ['Policy', 'Amount'])).to.equal(true)
  })

  it('masks a key that is derived from fields of the event if one of these fields is personal, or unknown to the contract', () => {
    expect(mayShow('12/Grace', ['Amount', 'CustomerName'])).to.equal(false)
    expect(mayShow('12/Hopper', ['Amount', 'Note'])).to.equal(false)
  })

  it('masks a record key that is neither a GUID nor derived from fields of the event', () => {
    expect(mayShow('Grace', ['Policy'])).to.equal(false)
    expect(mayShow('Grace/12', ['Policy', 'Amount'])).to.equal(false)
    expect(mayShow('12', [])).to.equal(false)
    expect(mayShow('12', ['Amount'], null)).to.equal(false)
    expect(mayShow(Buffer.from([0xff]), ['Amount'])).to.equal(false)
  })
})
