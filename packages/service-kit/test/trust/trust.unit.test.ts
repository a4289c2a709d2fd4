import { expect } from 'chai'
import { createTrust, type Publishers, type TrustFile, UntrustedError } from '../../src/trust/trust.ts'
import { type Claim, claims, file, legacy, publishers, shop, signer, stranger, value, whyNot } from './claims.ts'

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
