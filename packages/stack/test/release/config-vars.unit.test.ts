import { generateKeyPairSync } from 'node:crypto'
import { expect } from 'chai'
import { resolveConfigVars, secretsOf } from '../../src/release/config-vars.ts'
import { serviceNamed } from './support/service-named.ts'

const hosted = {
  Stream__Brokers: 'a.example.com:9093,b.example.com:9093',
  Stream__SaslUsername: 'me',
  Stream__SaslPassword: 'secret',
  State__ConnectionString: 'mongodb+srv://me:secret@store.example.com/',
  Trust__SigningKeys: 'secret-of-all-services-of-32-chars',
}
const issuer = { Auth__Issuer: 'https://login.example.com', Auth__Audience: 'orderflow' }
const usual = { ...hosted, ...issuer }
const resolve = (env: NodeJS.ProcessEnv, earlier = {}) => resolveConfigVars(serviceNamed('payment'), env, earlier)

describe('resolveConfigVars and secretsOf', () => {
  it('returns all settings except hosts and ports inside the image, with the values for hosted brokers', async () => {
    const { vars, problems } = await resolve(usual)
    expect(problems).to.deep.equal([])
    expect(vars).to.include({
      ...usual,
      Auth__Mode: 'closed',
      App__Name: 'payment-service',
      Stream__AuthType: 'password',
      Stream__SessionTimeout: '10s',
      Policy__ApproveUpTo: '10000',
    })
    expect(Object.keys(vars).filter((name) => /^(Web|Sidecar|AppChannel|Metrics)__/.test(name))).to.deep.equal([])
  })

  it('reads values from the environment, an earlier export or appsettings.json, in this order', async () => {
    const { vars } = await resolve({ Policy__ApproveUpTo: '1' }, { Policy__ApproveUpTo: '2', Log__Level: 'warn' })
    expect(vars).to.include({ Policy__ApproveUpTo: '1', Log__Level: 'warn', State__Store: 'statestore' })
  })

  it('refuses another value of a setting that services share, from the environment or an earlier export', async () => {
    expect((await resolve({ ...usual, Money__Currency: 'EUR' })).vars).not.to.have.property('Money__Currency')
    expect((await resolve(usual, { Money__Currency: 'EUR' })).problems).to.deep.equal([])
    for (const [env, earlier] of [
      [{ Money__Currency: 'USD' }, {}],
      [{}, { Money__Currency: 'USD' }],
    ]) {
      const [problem, ...others] = (await resolve({ ...usual, ...env }, earlier)).problems
      expect(problem).to.match(/^Money__Currency: "settings" of services\.json has another value, EUR/)
      expect(others).to.deep.equal([])
    }
  })

  it('reports a value as missing only if the operator must provide it', async () => {
    expect((await resolve({})).problems.map((problem) => problem.split(':')[0])).to.have.members([
      ...Object.keys(hosted),
      'Auth__Issuer',
      'Auth__ApiKeys',
    ])
  })

  it('requires a store and signing keys only for a service with a store', async () => {
    const { State__ConnectionString: _, Trust__SigningKeys: _keys, ...others } = usual
    const { vars, problems } = await resolveConfigVars(serviceNamed('event-gateway'), others, {})
    expect(problems).to.deep.equal([])
    expect(vars).to.include({ App__Name: 'event-gateway', State__Store: '' })
  })

  const wrong: [name: string, value: string, problem: RegExp][] = [
    ['Stream__Brokers', '127.0.0.1:9092', /this machine/],
    ['Stream__Brokers', 'a.example.com', /host:port/],
    ['Stream__Brokers', 'https://a.example.com:9093', /host:port/],
    ['Stream__SaslMechanism', 'SCRAM-SHA-512', /one of/],
    ['Stream__AuthType', 'sasl', /one of/],
    ['Stream__CaCert', 'not a certificate', /PEM/],
    ['Stream__DisableTls', 'maybe', /true or false/],
    ['State__ConnectionString', 'Server=sql;Password=x', /MongoDB URI/],
    ['State__ConnectionString', 'mongodb://me:secret@store.example.com/', /replicaSet=/],
    ['Auth__Audience', '', /is missing; set it to the aud of the issuer's tokens/],
    ['Auth__Issuer', 'http://login.example.com', /begin with https/],
    ['Auth__Mode', 'shut', /one of/],
    ['Policy__ApproveUpTo', 'much', /number/],
    ['Trust__SigningKeys', 'too-short', /pattern/],
    ['Trust__File', '../components/no-such-file.json', /cannot be read/],
    ['Stream__Broker', 'a:1', /no such setting/],
  ]
  for (const [name, value, problem] of wrong) {
    it(`names the variable of an invalid value: ${name}=${value}`, async () => {
      const { problems } = await resolve({ ...usual, [name]: value })
      expect(problems).to.have.length(1)
      expect(problems[0])
        .to.match(new RegExp(`^${name}: .*${problem.source}`))
        .and.not.include('secret')
    })
  }

  it('accepts additional variables of the operator', async () => {
    const { vars, problems } = await resolve(usual, { OTEL_SERVICE_NAME: 'payments' })
    expect(problems).to.deep.equal([])
    expect(vars).to.include({ OTEL_SERVICE_NAME: 'payments' })
  })

  it('sets the destination of traces only if the environment has one', async () => {
    const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example', OTEL_EXPORTER_OTLP_HEADERS: 'key=word' }
    const { vars, problems } = await resolve({ ...usual, ...traced, OTEL_LOG_LEVEL: 'debug' })
    expect(problems).to.deep.equal([])
    expect(vars).to.include(traced).and.not.have.property('OTEL_LOG_LEVEL')
    expect(secretsOf(vars)).to.include('key=word')
    expect(Object.keys((await resolve(usual)).vars).filter((name) => name.startsWith('OTEL'))).to.deep.equal([])
    expect((await resolve({ ...usual, OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' })).problems).to.deep.equal([
      'OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL of http or https, such as http://127.0.0.1:4318',
    ])
  })

  it('refuses values that are not strings in a file that was edited by hand', async () => {
    const earlier = { Policy__ApproveUpTo: 1, 'A-B': 'x' } as unknown as Record<string, string>
    expect((await resolve(hosted, earlier)).problems).to.deep.equal([
      'Policy__ApproveUpTo: must be a string in quotes',
      'A-B: a name has only letters, digits and underscores',
    ])
  })

  it('refuses a key or another text as a certificate', async () => {
    const { privateKey } = generateKeyPairSync('ed25519')
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    expect((await resolve({ ...usual, Stream__CaCert: key })).problems).to.deep.equal([
      'Stream__CaCert: must be a PEM certificate, its line breaks included',
    ])
  })

  it('returns the secret values of an app, including URLs of add-ons', () => {
    const vars = {
      ...hosted,
      ADDON_URL: 'redis://:word@host',
      WEB_CONCURRENCY: '2',
      API_TOKEN: 'word',
      EMPTY_PASSWORD: null,
    }
    expect(secretsOf(vars)).to.have.members([
      'secret',
      hosted.State__ConnectionString,
      hosted.Trust__SigningKeys,
      'redis://:word@host',
      'word',
    ])
  })

  it('returns a list of secrets as a whole, and each secret in it', () => {
    const vars = {
      Monitor__DryRuns:
        'order-service=https://a.example.com token-of-orders,payment-service=https://b.example.com token-of-payments',
      Trust__SigningKeys: 'first-key-of-the-list=,second-key-of-the-list=',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'api-key=word-of-the-collector,other=another-word',
    }
    const secrets = secretsOf(vars)
    expect(secrets).to.include.members([
      ...Object.values(vars),
      'token-of-orders',
      'token-of-payments',
      'first-key-of-the-list=',
      'second-key-of-the-list=',
      'word-of-the-collector',
      'another-word',
    ])
    expect(secrets).not.to.include.members(['order-service', 'https://a.example.com'])
  })
})
