import { CliError } from '@orderflow/stack/base'
import { expect } from 'chai'
import { findingsOf, names } from '../network/findings.ts'
import type { Cell, Started } from '../network/payments.ts'
import { storeOf } from '../network/store.ts'

describe('storeOf', () => {
  it('returns URIs with the address of a proxy, which drivers cannot bypass', () => {
    const postgresql = storeOf('postgres://user:p%40ss@db.example/?sslmode=require')
    expect(postgresql.address).to.equal('db.example:5432')
    const uri = postgresql.uriBy('127.0.0.1:9', 'payment-service')
    expect(uri).to.match(/^postgres:\/\/payment-service\.store:[\w-]{32}@127\.0\.0\.1:9\/\?sslmode=require$/)
    const mongodb = storeOf('mongodb://user:p@db.example:27018/?replicaSet=rs0')
    expect(mongodb.uriBy('127.0.0.1:9', 'payment-service')).to.equal(
      'mongodb://user:p@127.0.0.1:9/?replicaSet=rs0&directConnection=true',
    )
  })

  it('rejects an unsupported store with a message that omits the password', () => {
    expect(() => storeOf('redis://:secret@db.example'))
      .to.throw(CliError, 'STORE_URI=redis:... is not a supported store')
      .with.property('message')
      .that.does.not.contain('secret')
  })
})

describe('the report of the network part', () => {
  const cell = (variant: string, roundTrip: number, replicas: number, perSecond: number): Cell => {
    return { variant, roundTrip, replicas, perSecond, events: 10, busy: 0.5, used: {} }
  }
  const none = { expected: 10, lost: 0, unknown: 0, repeated: 0 }
  const started = (cells: Cell[], versions = 0): Started => {
    return { cells, aftermath: { stored: none, announced: none, versions } }
  }
  const found = (all: Started[]) =>
    findingsOf({ store: 'PostgreSQL', pings: new Map([[2, 2.3]]), started: all, orders: [] })

  it('contains the medians of all rounds, and goals only for variants that were measured', () => {
    const now = [1_000, 3_000, 2_400].map((rate) => started([cell(names.now, 2, 1, rate)]))
    const { tables, goals } = found([...now, started([cell(names.before, 2, 1, 300)])])
    expect(tables[0]?.rows[0]).to.deep.equal(['now', '2', '2.3', '1', '2,400', '0.50', '1,000', '3,000'])
    expect(goals.map(({ what, reached }) => [what, reached])).to.deep.equal([
      ['events/s at 2 ms, one replica', true],
      ['events/s, now / before, at 2 ms, one replica', true],
      ['events lost, doubled or in two versions', true],
    ])
  })

  it('shows a missed goal if the payment of an order was announced in two versions', () => {
    const { goals } = found([started([cell(names.now, 2, 1, 3_000)], 1)])
    expect(goals.at(-1)).to.deep.include({ measured: '1', reached: false })
  })
})
