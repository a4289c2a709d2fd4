import { expect } from 'chai'
import { connectionOf, isSaslMechanism } from '../src/connection.ts'

describe('connectionOf', () => {
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

  it('returns undefined if no broker is configured', () => {
    expect(connectionOf({ Brokers: '', AuthType: 'none' })).to.equal(undefined)
    expect(connectionOf({ Brokers: ',', AuthType: 'none' })).to.equal(undefined)
  })

  it('needs only the brokers if no password is used', () => {
    expect(connectionOf({ ...withPassword, AuthType: 'none' })).to.deep.equal({ bootstrapBrokers })
  })

  it('uses TLS if a password is set, with the system’s certificate authorities or a given authority', () => {
    expect(connectionOf(withPassword)).to.deep.equal({ bootstrapBrokers, sasl, tls: {} })
    expect(connectionOf({ ...withPassword, CaCert: 'PEM' })).to.deep.equal({
      bootstrapBrokers,
      sasl,
      tls: { ca: 'PEM' },
    })
  })

  it('uses a password without TLS if the settings disable TLS', () => {
    const connection = connectionOf({ ...withPassword, DisableTls: true, CaCert: 'PEM' })
    expect(connection).to.deep.equal({ bootstrapBrokers, sasl })
  })

  it('translates Dapr’s names of SASL mechanisms to the standard names', () => {
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
