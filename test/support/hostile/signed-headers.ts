import type { Envelope } from '@orderflow/envelope-schema'
import { publisherOf } from '@orderflow/service-kit/testing'
import { trust } from '../memory/world.ts'
import type { HostileRecord } from './hostile.ts'

/** Returns a record’s headers. If the record is signed, a valid signature comes last, because receivers use the last signature. */
export function signedHeaders({ value, headers, isSigned }: HostileRecord): HostileRecord['headers'] {
  const ours = { AppId: publisherOf('OrderCreated').id } as Envelope
  const signature = isSigned && value ? trust.vouch(ours, value) : undefined
  return signature ? [...headers, [Buffer.from('signature'), Buffer.from(signature)]] : headers
}
