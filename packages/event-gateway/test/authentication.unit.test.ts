import { createApiKey } from '@orderflow/service-kit/setup'
import { expect } from 'chai'
import { envelope, full, legacy } from './envelopes.ts'
import { gateway } from './gateway.ts'
import { trustFile } from './trust-file.ts'

describe('event-gateway', () => {
  const { appWith, publish, published, outcomesOf } = gateway()

  describe('with authentication', () => {
    const keyOf = (name: string, tenant = '', scopes = ['events:write']) =>
      createApiKey({ name, scopes, tenant }, new Date())
    const keys = { own: keyOf('legacy'), rotated: keyOf('legacy'), other: keyOf('shop'), acme: keyOf('legacy', 'acme') }
    const entry = { name: legacy.name, topics: { orderevents: ['OrderCreated'] }, apiKey: 'legacy' }
    const closed = (entries: object, unlisted: 'accept' | 'reject' = 'accept') =>
      appWith({
        Auth__Mode: 'closed',
        Auth__ApiKeys: JSON.stringify(Object.values(keys).map(({ record }) => record)),
        Trust__File: trustFile(unlisted, entries),
      })
    const as = (name: keyof typeof keys) => ({ authorization: `Bearer ${keys[name].key}` })
    const outcomesFor = async (event: object, name: keyof typeof keys, entries: object = { [legacy.id]: entry }) => {
      const { status, body } = await publish(event, as(name), closed(entries))
      return `${status} ${body.items[0]?.errors[0]?.message ?? ''}`
    }

    it('accepts an application’s events with its key, also during a key rotation', async () => {
      for (const name of ['own', 'rotated'] as const) expect(await outcomesFor(full(), name), name).to.equal('202 ')
      expect(published()).to.have.length(2)
    })

    it('refuses an application’s events with another key or without a key', async () => {
      expect(await outcomesFor(full(), 'other')).to.match(/^403 .*with a different apiKey/)
      expect((await publish(full(), {}, closed({ [legacy.id]: entry }))).status).to.equal(401)
      const { apiKey: _, ...keyless } = entry
      expect(await outcomesFor(full(), 'own', { [legacy.id]: keyless })).to.match(
        /^403 .*without an apiKey that may send its events/,
      )
      expect(published()).to.deep.equal([])
    })

    it('refuses an application without an entry in trust.json, and events outside an application’s entry', async () => {
      expect(await outcomesFor(full({ AppId: crypto.randomUUID() }), 'own')).to.match(/^403 AppId .* is not listed/)
      expect(await outcomesFor(full({ AppName: 'another' }), 'own')).to.match(/^403 .*with another AppName/)
      expect(
        await outcomesFor(envelope({ Name: 'OrderCancelled', Payload: { OrderId: crypto.randomUUID() } }), 'own'),
      ).to.match(/^403 .*does not publish OrderCancelled/)
      expect(published()).to.deep.equal([])
    })

    it('accepts only a TenantID that trust.json or the key allows', async () => {
      const named = { [legacy.id]: { ...entry, tenants: ['north', 'acme'] } }
      const cases: [tenant: string | undefined, key: keyof typeof keys, entries: object | undefined, status: number][] =
        [
          [undefined, 'own', undefined, 202],
          ['north', 'own', undefined, 403],
          ['north', 'own', named, 202],
          ['south', 'own', named, 403],
          [undefined, 'own', named, 403],
          ['acme', 'acme', undefined, 202],
          ['acme', 'acme', named, 202],
          ['north', 'acme', named, 403],
          [undefined, 'acme', undefined, 403],
        ]
      for (const [TenantID, name, entries, status] of cases) {
        expect(
          await outcomesFor(full(TenantID === undefined ? {} : { TenantID }), name, entries),
          `${TenantID} ${name}`,
        ).to.match(new RegExp(`^${status}`))
      }
    })

    it('publishes only the sender’s own envelopes from a list', async () => {
      const all = [full(), full({ AppId: crypto.randomUUID() }), full()]
      const answer = await publish(all, as('own'), closed({ [legacy.id]: entry }))
      expect([answer.status, outcomesOf(answer)]).to.deep.equal([207, ['accepted', 'refused untrusted', 'accepted']])
      expect(published()).to.have.length(2)
    })
  })
})
