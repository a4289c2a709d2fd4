import type { Envelope } from '@orderflow/envelope-schema'
import { publisherOf } from '@orderflow/service-kit/testing'
import type { HostileRecord } from './hostile/hostile.ts'
import { trust } from './world.ts'

/** A valid signature comes last, because the last one is used. */
export function signedHeaders({ value, headers, isSigned }: HostileRecord): HostileRecord['headers'] {
  const ours = { AppId: publisherOf('OrderCreated').id } as Envelope
  const signature = isSigned && value ? trust.vouch(ours, value) : undefined
  return signature ? [...headers, [Buffer.from('signature'), Buffer.from(signature)]] : headers
}
