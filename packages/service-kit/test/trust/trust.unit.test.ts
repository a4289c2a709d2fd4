import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import {
  createSigner,
  createTrust,
  type Publishers,
  signatureHeader,
  type TrustFile,
  type TrustOptions,
  UntrustedError,
} from '../../src/trust/trust.ts'

const [shop, bank, legacy, stranger] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()] as [
  string,
  string,
  string,
  string,
]
const publishers = {
  outside: { sales: ['Sold', 'Returned'], returns: [] },
  services: {
    [shop]: { name: 'shop', publishes: { sales: ['Sold', 'Returned', 'Counted'] } },
    [bank.toUpperCase()]: { name: 'bank', publishes: { payments: ['Paid'], refunds: ['Repaid'] } },
  },
}
const file: TrustFile = {
  unlisted: 'reject',
  publishers: { [legacy.toUpperCase()]: { name: 'legacy', topics: { sales: ['Sold'] }, tenants: ['north', 'south'] } },
}
const signer = createSigner(['k'.repeat(32)])
const value = Buffer.from('the envelope')
const signature = signer.sign(value)

type Claim = { AppId: string; AppName: string; Name: string; TenantID?: string }
const claims = {
  shop: { AppId: shop, AppName: 'shop', Name: 'Sold' },
  bank: { AppId: bank, AppName: 'bank', Name: 'Paid' },
  legacy: { AppId: legacy, AppName: 'legacy', Name: 'Sold', TenantID: 'north' },
  stranger: { AppId: stranger, AppName: 'stranger', Name: 'Sold' },
}

/** Returns the reason why an event is not trusted; undefined if it is trusted. */
function whyNot(topic: string, claim: Claim, changes: Partial<TrustOptions> = {}, evidence = {}): string | undefined {
  const trust = createTrust({ publishers, file, signer, signedSince: Number.NEGATIVE_INFINITY, ...changes })
  try {
    trust.requireTrusted(topic, claim, { value, signature, appendedAt: 1_000, ...evidence })
    return undefined
  } catch (error) {
    if (error instanceof UntrustedError) {
      expect([error.code, error.name]).to.deep.equal(['untrusted', 'UntrustedError'])
      return error.message
    }
    throw error
  }
}

describe('requireAdmitted', () => {
  const entry = { name: 'legacy', topics: { sales: ['Sold'] }, apiKey: 'legacy' }
  const caller = { key: 'legacy', tenant: { id: '' } }
  const { TenantID: _, ...said } = claims.legacy

  /** Returns the reason why an event is not admitted; undefined if it is admitted. */
  function whyKept(
    claim: Claim,
    sender: { key?: string; tenant: { id: string } } | undefined,
    publisher: TrustFile['publishers'][string] = entry,
    topic = 'sales',
  ): string | undefined {
    const listed: TrustFile = { unlisted: 'accept', publishers: { [legacy]: publisher } }
    const trust = createTrust({ publishers, file: listed, signer: undefined, signedSince: 0 })
    try {
      trust.requireAdmitted(topic, claim, sender)
      return undefined
    } catch (error) {
      if (error instanceof UntrustedError) return error.message
      throw error
    }
  }

  it('refuses events in the name of our services, and events for topics that outside applications may not write to', () => {
    for (const sender of [undefined, caller]) {
      expect(whyKept(claims.shop, sender)).to.contain('use the AppId of your own application')
      expect(whyKept(claims.bank, sender, entry, 'payments')).to.contain('use the AppId of your own application')
      expect(whyKept({ ...said, AppName: 'shop' }, sender)).to.contain('which has another AppId')
      expect(whyKept(said, sender, entry, 'payments')).to.contain('only bank publishes to payments')
    }
  })

  it('applies only the rules of requireTrusted if there is no authentication', () => {
    expect(whyKept(claims.stranger, undefined)).to.equal(undefined)
    expect(whyKept(said, undefined)).to.equal(undefined)
    expect(whyKept({ ...said, Name: 'Returned' }, undefined)).to.contain('does not publish Returned')
  })

  it('accepts a listed application’s events only with the API key that the trust file lists for this application', () => {
    expect(whyKept(said, caller)).to.equal(undefined)
    expect(whyKept(said, { ...caller, key: 'another' })).to.contain('a different apiKey')
    expect(whyKept(said, { tenant: { id: '' } })).to.contain('a different apiKey')
    expect(whyKept(said, caller, { name: 'legacy', topics: entry.topics })).to.contain('without an apiKey')
    expect(whyKept({ ...said, AppName: 'another' }, caller)).to.contain('another AppName')
    expect(whyKept(claims.stranger, caller)).to.contain('not listed').and.to.contain('restart the services and send')
  })

  it('requires a TenantID that the trust file or the API key allows', () => {
    const of = (TenantID: string) => ({ ...said, TenantID })
    const ofKey = { ...caller, tenant: { id: 'acme' } }
    const tenants = { ...entry, tenants: ['north', 'acme'] }
    expect(whyKept(of('north'), caller)).to.contain('do not include the TenantID')
    expect(whyKept(of('north'), caller, tenants)).to.equal(undefined)
    expect(whyKept(of('south'), caller, tenants)).to.contain('do not include the TenantID')
    expect(whyKept(said, caller, tenants)).to.contain('do not include the TenantID')
    expect(whyKept(of('acme'), ofKey)).to.equal(undefined)
    expect(whyKept(of('acme'), ofKey, tenants)).to.equal(undefined)
    expect(whyKept(of('north'), ofKey, tenants)).to.contain('that of the API key')
    expect(whyKept(said, ofKey)).to.contain('that of the API key')
  })
})

describe('requireTrusted', () => {
  it('accepts events of our services and of listed applications', () => {
    expect(whyNot('sales', claims.shop)).to.equal(undefined)
    expect(whyNot('payments', claims.bank)).to.equal(undefined)
    expect(whyNot('sales', claims.legacy)).to.equal(undefined)
  })

  const forged: [what: string, topic: string, claim: Claim, why: string][] = [
    [
      'our AppId on a topic of another service',
      'payments',
      claims.shop,
      'shop, which does not publish Sold to payments',
    ],
    [
      'our AppId with an event that the service does not publish',
      'sales',
      { ...claims.shop, Name: 'Paid' },
      'does not',
    ],
    ['our AppId with another AppName', 'sales', { ...claims.shop, AppName: 'shop ' }, 'but its AppName is not'],
    ['our AppName with another AppId', 'sales', { ...claims.shop, AppId: stranger }, 'shop, which has another AppId'],
    [
      'an event of another application on our own topic',
      'payments',
      { ...claims.legacy, Name: 'Paid' },
      'only bank publishes to payments',
    ],
    [
      'an event that only a service publishes to a topic of others',
      'sales',
      { ...claims.legacy, Name: 'Counted' },
      'Counted is an event of sales that outside applications may not publish (docs/trust.md)',
    ],
    ['an event of another topic', 'returns', claims.legacy, 'Sold is an event of sales, not of returns'],
    ['an event on an unknown topic', 'rumours', claims.stranger, 'only one of our services publishes to rumours'],
  ]
  for (const [what, topic, claim, why] of forged) {
    it(`refuses ${what}, whatever the trust file contains`, () => {
      const listed = { name: claim.AppName, topics: { [topic]: [claim.Name] } }
      for (const unlisted of ['accept', 'reject'] as const) {
        const generous = { unlisted, publishers: { [claim.AppId]: listed } }
        expect(whyNot(topic, claim, { file: generous })).to.contain(why)
        expect(whyNot(topic, claim, { signer: undefined })).to.contain(why)
      }
    })
  }

  it('names in the error all services that publish to the topic', () => {
    const { [shop]: seller } = publishers.services
    const also = { ...publishers.services, [shop]: { ...seller, publishes: { payments: ['Refunded'] } } }
    const why = whyNot('payments', claims.stranger, { publishers: { ...publishers, services: also } as Publishers })
    expect(why).to.equal('only shop or bank publishes to payments')
  })

  it('accepts any event from an unlisted application on an open topic, if the file accepts unlisted applications', () => {
    const generous = { file: { ...file, unlisted: 'accept' as const } }
    expect(whyNot('sales', { ...claims.stranger, Name: 'Rumour' }, generous)).to.equal(undefined)
  })

  it('accepts or refuses unlisted applications as the trust file states, and explains how to allow an application', () => {
    expect(whyNot('sales', claims.stranger, { file: { ...file, unlisted: 'accept' } })).to.equal(undefined)
    expect(whyNot('sales', claims.stranger))
      .to.contain(`AppId ${stranger} is not listed in trust.json`)
      .and.to.contain('restart the services and replay')
  })

  it('checks a listed application’s name, topics, events and tenants, even if unlisted applications are accepted', () => {
    const generous = { file: { ...file, unlisted: 'accept' as const } }
    const cases: [Claim, string][] = [
      [{ ...claims.legacy, AppName: 'legacy 2' }, 'with another AppName'],
      [{ ...claims.legacy, Name: 'Returned' }, 'does not publish Returned to sales'],
      [{ ...claims.legacy, TenantID: 'east' }, 'do not include the TenantID'],
      [{ ...claims.legacy, TenantID: '' }, 'do not include the TenantID'],
      [{ AppId: legacy, AppName: 'legacy', Name: 'Sold' }, 'do not include the TenantID'],
    ]
    for (const [claim, why] of cases) expect(whyNot('sales', claim, generous)).to.contain(why)
    expect(whyNot('returns', { ...claims.legacy, Name: 'Rumour' }, generous)).to.contain(
      'not publish Rumour to returns',
    )
    const anywhere = { file: { ...file, publishers: { [legacy]: { name: 'legacy', topics: { sales: ['Sold'] } } } } }
    expect(whyNot('sales', { ...claims.legacy, TenantID: 'east' }, anywhere)).to.equal(undefined)
    const nowhere = {
      file: { ...file, publishers: { [legacy]: { name: 'legacy', topics: { sales: ['Sold'] }, tenants: [''] } } },
    }
    expect(whyNot('sales', { AppId: legacy, AppName: 'legacy', Name: 'Sold' }, nowhere)).to.equal(undefined)
  })

  it('quotes no text of the publisher in an error', () => {
    const secret = { ...claims.legacy, AppName: 'Mallory', TenantID: 'Malloryland' }
    expect(whyNot('sales', secret)).not.to.match(/mallory/i)
    expect(whyNot('sales', { ...claims.legacy, TenantID: 'Malloryland' })).not.to.match(/mallory/i)
    expect(whyNot('sales', { ...claims.shop, AppName: 'Mallory' })).not.to.match(/mallory/i)
  })

  it('treats names that every JavaScript object has, such as constructor, like other names', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect(whyNot(name, claims.legacy)).to.contain('only one of our services')
      expect(whyNot('sales', { ...claims.legacy, Name: name })).to.contain('does not publish')
      expect(whyNot('sales', { ...claims.shop, Name: name })).to.contain('does not publish')
    }
  })

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

  it('requireGenuine ignores the trust file’s rights for outside applications', () => {
    const trust = createTrust({ publishers, file, signer, signedSince: 0 })
    const evidence = { value, signature: undefined, appendedAt: 1 }
    trust.requireGenuine('sales', claims.stranger, evidence)
    expect(() => trust.requireGenuine('payments', claims.stranger, evidence)).to.throw(UntrustedError)
    expect(() => trust.requireGenuine('sales', claims.shop, evidence)).to.throw(
      UntrustedError,
      'signature is missing or wrong',
    )
  })
})
