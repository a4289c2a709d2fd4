import { expect } from 'chai'
import { kafkaConnection } from '../../src/kafka/connection.ts'

const secured = {
  Stream__Brokers: 'a:1,b:2',
  Stream__AuthType: 'password',
  Stream__SaslMechanism: 'SHA-512',
  Stream__SaslUsername: 'u',
  Stream__SaslPassword: 'p',
}
const sasl = { mechanism: 'SCRAM-SHA-512', username: 'u', password: 'p' }
const bootstrapBrokers = ['a:1', 'b:2']

describe('kafkaConnection', () => {
  it('requires only the addresses of brokers', () => {
    expect(kafkaConnection({ Stream__Brokers: 'a:1,b:2' })).to.deep.equal({ bootstrapBrokers })
  })

  it('sends a password over TLS, unless TLS is switched off', () => {
    expect(kafkaConnection(secured)).to.deep.equal({ bootstrapBrokers, sasl, tls: {} })
    expect(kafkaConnection({ ...secured, Stream__CaCert: 'PEM' }).tls).to.deep.equal({ ca: 'PEM' })
    expect(kafkaConnection({ ...secured, Stream__DisableTls: 'true' })).to.deep.equal({ bootstrapBrokers, sasl })
  })

  it('names a missing or invalid variable', () => {
    expect(() => kafkaConnection({})).to.throw('Stream__Brokers is missing')
    expect(() => kafkaConnection({ ...secured, Stream__SaslPassword: '' })).to.throw('Stream__SaslPassword is missing')
    expect(() => kafkaConnection({ ...secured, Stream__SaslMechanism: 'PLAIN' })).to.throw('PLAIN is not supported')
    expect(() => kafkaConnection({ ...secured, Stream__AuthType: 'oidc' })).to.throw('oidc is not supported')
  })
})
