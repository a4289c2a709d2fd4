import { expect } from 'chai'
import {
  chooseVariables,
  givenVariables,
  requireSameVariables,
  withoutVariables,
} from '../../src/application/variables.ts'
import { expectRefusalOf, refusal } from '../support.ts'

/** One variable of each kind. */
const settings = {
  Auth__Mode: 'closed',
  Auth__Issuer: 'https://login.example',
  Web__Proxies: '1',
  Web__Hosts: 'shop.example',
  Trust__SigningKeys: 'a-key',
  Trust__File: 'trust.json',
  Limits__AddressPerMinute: '10',
  DryRun__Token: 'a-token',
  Stream__SessionTimeout: '6s',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example',
}
const machine = {
  HTTPS_PROXY: 'http://proxy.example',
  no_proxy: 'localhost',
  NODE_USE_ENV_PROXY: '1',
  NODE_EXTRA_CA_CERTS: '/ca.pem',
}
const others = { PATH: '/bin', PORT: '1', EDITOR: 'vi' }
const ofOtherServers = { Stream__Brokers: 'kafka.example', Stream__SaslPassword: 'p', State__ConnectionString: 'uri' }

describe('givenVariables and chooseVariables', () => {
  it('return settings, proxies and certificate authorities, and leave out other variables and the servers of other stacks', () => {
    const env = { ...settings, ...machine, ...others, ...ofOtherServers }
    expect(givenVariables(env)).to.deep.equal({ ...settings, ...machine })
    expect(withoutVariables(env)).to.deep.equal(others)
  })

  it('return the remembered variables while the stack runs, whatever the shell lacks', () => {
    const remembered = { ...settings, ...machine }
    expect(chooseVariables(remembered, {}, true)).to.deep.equal(remembered)
    expect(chooseVariables(remembered, { HTTPS_PROXY: 'http://other.example' }, true)).to.deep.equal(remembered)
    expect(chooseVariables(remembered, settings, true)).to.deep.equal(remembered)
  })

  for (const [name, value] of Object.entries(settings)) {
    it(`refuse another value of ${name} while the stack runs, and keep both values secret`, () => {
      expectRefusalOf(name, value, () => chooseVariables(settings, { [name]: 'other' }, true))
      expect(refusal(() => requireSameVariables({}, { [name]: value }))).to.contain(name)
    })
  }

  it('keep the settings after a stop, except those that the shell changes or empties', () => {
    const { Web__Proxies: _, ...kept } = settings
    const env = { Auth__Mode: 'loopback', Web__Proxies: '' }
    expect(chooseVariables(settings, env, false)).to.deep.equal({ ...kept, Auth__Mode: 'loopback' })
  })

  it('return the proxies and certificate authorities of the shell at the next start', () => {
    expect(chooseVariables({ ...settings, ...machine }, { HTTPS_PROXY: 'http://new.example' }, false)).to.deep.equal({
      ...settings,
      HTTPS_PROXY: 'http://new.example',
    })
  })
})
