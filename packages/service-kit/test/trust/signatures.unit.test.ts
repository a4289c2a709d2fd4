import { expect } from 'chai'
import fc from 'fast-check'
import { createSigner, createTrust, signatureHeader } from '../../src/trust/trust.ts'
import { claims, file, publishers, signature, signer, value, whyNot } from './claims.ts'

describe('signatures', () => {
  const forgeries = {
    'a missing signature': undefined,
    'the signature of another event': signer.sign(Buffer.from('another envelope')),
    'the signature of another key': createSigner(['o'.repeat(32)]).sign(value),
    'a shortened signature': signature?.slice(1),
    'a signature in hex': Buffer.from(signature ?? '', 'base64url').toString('hex'),
    'an empty signature': '',
  }
  for (const [what, forgery] of Object.entries(forgeries)) {
    it(`refuses ${what} for an event of our services, and requires no signature from other applications`, () => {
      expect(whyNot('sales', claims.shop, {}, { signature: forgery })).to.contain('signature is missing or wrong')
      expect(whyNot('sales', claims.legacy, {}, { signature: forgery })).to.equal(undefined)
      expect(whyNot('sales', claims.shop, { signer: undefined }, { signature: forgery })).to.equal(undefined)
    })
  }

  it('accepts records without a signature if the broker appended them before the start of signing', () => {
    const since = { signedSince: 1_000 }
    expect(whyNot('sales', claims.shop, since, { signature: undefined, appendedAt: 999 })).to.equal(undefined)
    for (const appendedAt of [1_000, Number.NaN]) {
      expect(whyNot('sales', claims.shop, since, { signature: undefined, appendedAt })).to.contain(
        'signature is missing or wrong',
      )
    }
    expect(whyNot('payments', claims.shop, since, { appendedAt: 0 })).to.contain('does not publish')
  })

  it('accepts a signature of any of the keys, so that keys can be replaced', () => {
    const [older, newer] = ['o'.repeat(32), 'n'.repeat(32)] as [string, string]
    for (const keys of [[older], [older, newer], [newer, older]]) {
      const by = createSigner([older]).sign(value)
      expect(whyNot('sales', claims.shop, { signer: createSigner(keys) }, { signature: by })).to.equal(undefined)
    }
    expect(createSigner([newer, older]).sign(value)).to.equal(createSigner([newer]).sign(value))
  })

  it('the header of a signature has the same name in all versions, because logs are kept for ever', () => {
    expect(signatureHeader).to.equal('signature')
  })

  it('a signature is an HMAC-SHA-256 (RFC 4231, test case 2)', () => {
    const known = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
    const made = createSigner(['Jefe']).sign(Buffer.from('what do ya want for nothing?'))
    expect(Buffer.from(made ?? '', 'base64url').toString('hex')).to.equal(known)
  })

  it('makes different signatures for different bytes', () => {
    const bytes = fc.uint8Array({ maxLength: 300 })
    const property = fc.property(bytes, bytes, (one, other) => {
      const isSame = Buffer.compare(one, other) === 0
      expect(signer.isBy(other, signer.sign(one))).to.equal(isSame)
      expect(signer.isBy(one, signer.sign(one))).to.equal(true)
    })
    fc.assert(property)
  })
})

describe('for publishers', () => {
  const trust = () => createTrust({ publishers, file, signer, signedSince: 0 })
  const silent = createTrust({ publishers, file, signer: undefined, signedSince: 0 })

  it('signs events of our services if a key is set', () => {
    expect(trust().sign('sales', claims.shop, value)).to.equal(signature)
    expect(silent.sign('sales', claims.shop, value)).to.equal(undefined)
  })

  it('refuses to sign an event that receivers would reject', () => {
    for (const [topic, claim] of [
      ['payments', claims.shop],
      ['sales', { ...claims.shop, Name: 'Paid' }],
      ['sales', claims.stranger],
    ] as const) {
      expect(() => trust().sign(topic, claim, value)).to.throw('services.json, then run make generate')
    }
  })

  it('`vouch` returns signatures only for events of our services', () => {
    expect(trust().vouch(claims.shop, value)).to.equal(signature)
    expect(trust().vouch(claims.stranger, value)).to.equal(undefined)
    expect(silent.vouch(claims.shop, value)).to.equal(undefined)
  })
})
