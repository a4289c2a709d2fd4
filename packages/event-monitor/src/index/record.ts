import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Problem } from '@orderflow/envelope'
import type { RecordPosition } from '../api/events.ts'
import type { Kind } from '../model/kind.ts'

/** A record on its way into the index. */
export interface IndexRecord {
  topic: string
  partition: number
  offset: number
  /** When it reached the log, in milliseconds since 1970. */
  at: number
  /** Of its value. */
  bytes: number
  kind: Kind
  /** What it is found by. */
  guids: Iterable<string>
  body: Body
  /** What the event is about (model/rules.ts); null when it is about nothing that anybody waits for. */
  subject: string | null
}

/** How far a partition is read. */
export interface Position {
  topic: string
  partition: number
  /** Of the topic as it is today: one that is made anew has another. */
  topicId: string
  /** The first offset that is not in the index. */
  next: number
}

/** What the index never got of a partition. */
export interface Gap {
  topic: string
  partition: number
  from: number
  to: number
  at: number
  why: 'truncated' | 'recreated'
}

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
  origin?: RecordPosition
  /** Of a dead letter or a note: which record it is about, and when that one reached the log, as far as the dead letter says so. */
  of?: RecordPosition
  ofAt?: number
  /** Of a note: where the event stands now, and whether it was edited. */
  as?: RecordPosition
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
