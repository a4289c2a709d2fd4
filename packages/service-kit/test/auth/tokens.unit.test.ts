import { expect } from 'chai'
import { createIssuer, createTokenVerifier, IssuerError, TokenError, type VerifyToken } from '../../src/auth/tokens.ts'
import { startIssuer, type TestIssuer } from '../../src/testing/issuer.ts'

describe('the verifier of tokens', () => {
  let issuer: TestIssuer
  let verify: VerifyToken
  let clock: number
  beforeEach(async () => {
    issuer = await startIssuer()
    clock = Date.now()
    verify = verifierOf(issuer.url)
  })
  afterEach(() => issuer.stop())

  function verifierOf(url: string): VerifyToken {
    const settings = {
      Mode: 'closed' as const,
      Issuer: url,
      Audience: 'orderflow',
      TenantClaim: 'org',
      ClientId: '',
      ApiKeys: '',
    }
    return createTokenVerifier(settings, createIssuer(url), () => new Date(clock))
  }

  const seconds = (offset: number) => Math.floor(clock / 1000) + offset
  async function refusal(token: string): Promise<string> {
    const error = await verify(token).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(TokenError)
    return (error as TokenError).message
  }

  it('returns the caller, the tenant and the scopes of a token', async () => {
    const caller = await verify(await issuer.token({ sub: 'ada', org: 'acme', scope: 'orders:read orders:write' }))
    expect(caller).to.deep.equal({
      id: `${issuer.url}|ada`,
      scopes: new Set(['orders:read', 'orders:write']),
      tenant: { id: 'acme', userId: 'ada' },
    })
  })

  it('accepts scopes in the claim `scp`, as a text or a list, and a token without a tenant', async () => {
    const [text, list] = await Promise.all([issuer.token({ scp: 'a:read b:read' }), issuer.token({ scp: ['a:read'] })])
    expect((await verify(text)).scopes).to.deep.equal(new Set(['a:read', 'b:read']))
    expect(await verify(list)).to.deep.include({ scopes: new Set(['a:read']), tenant: { id: '', userId: 'ada' } })
  })

  it('explains why it refuses a token', async () => {
    expect(await refusal(await issuer.token({ exp: seconds(-31) }))).to.contain('has expired')
    expect(await refusal(await issuer.token({ aud: 'another' }))).to.contain('audience is not orderflow')
    expect(await refusal(await issuer.token({ iss: 'https://elsewhere.example' }))).to.contain('another issuer')
    expect(await refusal(await issuer.token({ nbf: seconds(60) }))).to.contain('is not valid yet')
    expect(await refusal(await issuer.token({ exp: undefined }))).to.contain('claim exp is missing')
    expect(await refusal(await issuer.token({ sub: undefined }))).to.contain('claim sub is missing')
    expect(await refusal(await issuer.token({ org: ['acme'] }))).to.contain('claim org must be a string')
    expect(await refusal('not.a.token')).to.contain('not a token or API key')
    const [head, body] = (await issuer.token()).split('.')
    expect(await refusal(`${head}.${body}.${'A'.repeat(86)}`)).to.contain('signature is wrong')
  })

  it('refuses tokens without a signature, or signed with a shared secret', async () => {
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
    const claims = encode({ iss: issuer.url, aud: 'orderflow', sub: 'ada', exp: seconds(60) })
    for (const alg of ['none', 'HS256']) {
      expect(await refusal(`${encode({ alg, kid: '1' })}.${claims}.${alg === 'none' ? '' : 'c2ln'}`)).to.contain(
        'not a token or API key',
      )
    }
  })

  it('accepts tokens until half a minute after they expire, because clocks differ', async () => {
    expect((await verify(await issuer.token({ exp: seconds(-29) }))).id).to.contain('ada')
  })

  it('caches verified tokens for a minute, but not after they expire', async () => {
    const token = await issuer.token({ exp: seconds(10) })
    await verify(token)
    clock += 41_000
    expect(await refusal(token)).to.contain('has expired')
  })

  it('accepts a new signing key at once, and refuses the old key after a minute', async () => {
    const old = await issuer.token({ exp: seconds(3_600) })
    await verify(old)
    await issuer.rotate()
    const fresh = verifierOf(issuer.url)
    expect((await fresh(await issuer.token())).id).to.contain('ada')
    const error = await fresh(old).catch((thrown: unknown) => thrown)
    expect((error as Error).message).to.contain('the issuer does not have')
  })

  it('reads the keys of the issuer only once', async () => {
    await Promise.all([verify(await issuer.token({ jti: '1' })), verify(await issuer.token({ jti: '2' }))])
    await verify(await issuer.token({ jti: '3' }))
    expect(issuer.keyRequests).to.equal(1)
  })

  it('reports an outage of the issuer if it has read no keys yet, and works again after the outage', async () => {
    issuer.fail(true)
    const error = await verify(await issuer.token()).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(IssuerError)
    issuer.fail(false)
    expect((await verify(await issuer.token())).id).to.contain('ada')
  })

  it('uses the last keys while the issuer is unreachable', async () => {
    await verify(await issuer.token({ jti: '1' }))
    issuer.fail(true)
    expect((await verify(await issuer.token({ jti: '2' }))).id).to.contain('ada')
  })
})
