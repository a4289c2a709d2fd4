import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { createSigner, createTrust, type TrustFile, type TrustOptions, UntrustedError } from '../../src/trust/trust.ts'

const newId = (): string => randomUUID()
export const [shop, bank, legacy, stranger] = [newId(), newId(), newId(), newId()] as const
export const publishers = {
  outside: { sales: ['Sold', 'Returned'], returns: [] },
  services: {
    [shop]: { name: 'shop', publishes: { sales: ['Sold', 'Returned', 'Counted'] } },
    [bank.toUpperCase()]: { name: 'bank', publishes: { payments: ['Paid'], refunds: ['Repaid'] } },
  },
}
export const file: TrustFile = {
  unlisted: 'reject',
  publishers: { [legacy.toUpperCase()]: { name: 'legacy', topics: { sales: ['Sold'] }, tenants: ['north', 'south'] } },
}
export const signer = createSigner(['k'.repeat(32)])
export const value = Buffer.from('the envelope')
export const signature = signer.sign(value)

export type Claim = { AppId: string; AppName: string; Name: string; TenantID?: string }
export const claims = {
  shop: { AppId: shop, AppName: 'shop', Name: 'Sold' },
  bank: { AppId: bank, AppName: 'bank', Name: 'Paid' },
  legacy: { AppId: legacy, AppName: 'legacy', Name: 'Sold', TenantID: 'north' },
  stranger: { AppId: stranger, AppName: 'stranger', Name: 'Sold' },
}

/** Returns the reason why an event is not trusted; undefined if it is trusted. */
export function whyNot(
  topic: string,
  claim: Claim,
  changes: Partial<TrustOptions> = {},
  evidence = {},
): string | undefined {
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
