import type { Envelope } from '@orderflow/envelope-schema'
import { publisherOf } from '@orderflow/service-kit/testing'
import type { HostileRecord } from './hostile/hostile.ts'
import { trust } from './world.ts'

/** A hostile record's headers. The signature of our services, if it has one, comes last, and so is the one that counts. */
export function signedHeaders({ value, headers, isSigned }: HostileRecord): HostileRecord['headers'] {
  const ours = { AppId: publisherOf('OrderCreated').id } as Envelope
  const signature = isSigned && value ? trust.vouch(ours, value) : undefined
  return signature ? [...headers, [Buffer.from('signature'), Buffer.from(signature)]] : headers
}
