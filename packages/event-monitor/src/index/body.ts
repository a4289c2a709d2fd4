import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Problem } from '@orderflow/envelope-schema'
import type { Place } from '../api/events.ts'

/** What the index keeps of a record besides its row. Nothing of it is personal. */
export interface Body {
  /** Masked (`maskDocument`). */
  document: unknown
  /** Why there is no document. */
  note?: string
  masked?: string[]
  key?: string
  headers?: { name: string; value: string }[]
  faults?: Problem[]
  /** Ids that its envelope lacks and that derive from its record; in the order `Id`, `CorrelationId`, `TraceId`. */
  ids?: [string, string, string]
  /** Where its event first stood, when that is not its own place. */
  origin?: Place
  /** Of a dead letter or a note: which record it is about, and when that one reached the log, as far as the letter says so. */
  of?: Place
  ofAt?: number
  /** Of a note: where the event stands now, and whether it was edited. */
  as?: Place
  edited?: boolean
}

/** A block is this many bodies: more of them compress no better, and each that is read costs all of its block. */
export const blockLength = 64

/** What events of any application have in common, so that a block of one event compresses, too. Another dictionary is another version (segment.ts). */
const dictionary = Buffer.from(
  JSON.stringify({
    document: {
      Headers: { CausationId: '' },
      Id: '',
      CorrelationId: '',
      TraceId: '',
      AppId: '',
      AppName: '',
      Version: 1,
      Name: '',
      CreationDate: '2026-01-01T00:00:00.000Z',
      Payload: { '': '***{/Payload/}***' },
      TenantID: '',
      TenantUserID: '',
    },
    masked: ['/Payload/'],
    key: '',
    headers: [
      { name: 'traceparent', value: '' },
      { name: 'caused-at', value: '' },
    ],
  }),
)
const writing = { params: { [constants.ZSTD_c_compressionLevel]: 1 }, dictionary }

/** Several bodies as one block. */
export function toBlock(bodies: readonly Body[]): Uint8Array {
  return zstdCompressSync(bodies.map((body) => JSON.stringify(body)).join('\n'), writing)
}

/** The bodies of a block, as the text of each. */
export function blockTexts(block: Uint8Array): string[] {
  return zstdDecompressSync(block, { dictionary }).toString().split('\n')
}
