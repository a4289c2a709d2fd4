import { expect } from 'chai'
import { connectionOf, isSaslMechanism } from '../../src/stream/kafka.ts'

describe('a connection to Kafka', () => {
  const withPassword = {
    Brokers: 'one:9093,two:9093',
    AuthType: 'password',
    SaslMechanism: 'SHA-512',
    SaslUsername: 'user',
    SaslPassword: 'password',
    DisableTls: false,
    CaCert: '',
  } as const
  const bootstrapBrokers = ['one:9093', 'two:9093']
  const sasl = { mechanism: 'SCRAM-SHA-512', username: 'user', password: 'password' }

  it('is none as long as no broker is named', () => {
    expect(connectionOf({ Brokers: '', AuthType: 'none' })).to.equal(undefined)
    expect(connectionOf({ Brokers: ',', AuthType: 'none' })).to.equal(undefined)
  })

  it('without a password needs the brokers alone', () => {
    expect(connectionOf({ ...withPassword, AuthType: 'none' })).to.deep.equal({ bootstrapBrokers })
  })

  it('with a password is over TLS, with the system’s authorities or a given one', () => {
    expect(connectionOf(withPassword)).to.deep.equal({ bootstrapBrokers, sasl, tls: {} })
    expect(connectionOf({ ...withPassword, CaCert: 'PEM' })).to.deep.equal({
      bootstrapBrokers,
      sasl,
      tls: { ca: 'PEM' },
    })
  })

  it('is without TLS when that is asked for', () => {
    const connection = connectionOf({ ...withPassword, DisableTls: true, CaCert: 'PEM' })
    expect(connection).to.deep.equal({ bootstrapBrokers, sasl })
  })

  it('calls the mechanisms what every client calls them', () => {
    for (const [ours, theirs] of [
      ['PLAINTEXT', 'PLAIN'],
      ['SHA-256', 'SCRAM-SHA-256'],
      ['SHA-512', 'SCRAM-SHA-512'],
    ] as const) {
      expect(isSaslMechanism(ours)).to.equal(true)
      expect(connectionOf({ ...withPassword, SaslMechanism: ours })?.sasl?.mechanism).to.equal(theirs)
    }
    expect(['PLAIN', '', 'toString'].map(isSaslMechanism)).to.deep.equal([false, false, false])
  })
})
