import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Problem } from '@orderflow/envelope'
import type { RecordPosition } from '../api/events.ts'
import type { Kind } from '../model/kind.ts'

/** A record to be indexed. */
export interface IndexRecord {
  topic: string
  partition: number
  offset: number
  /** Arrival in the log, in milliseconds since 1970. */
  at: number
  /** Size of its value. */
  bytes: number
  kind: Kind
  /** Ids that find the record. */
  guids: Iterable<string>
  body: Body
  /** The event's subject (ingest/examine.ts); null without an expected reaction. */
  subject: string | null
}

/** The position up to which a partition was read. */
export interface Position {
  topic: string
  partition: number
  /** Id of the topic. A topic that is created again has a new id. */
  topicId: string
  /** The first offset that is not in the index. */
  next: number
}

/** A range of a partition that the index never received. */
export interface Gap {
  topic: string
  partition: number
  from: number
  to: number
  at: number
  why: 'truncated' | 'recreated'
}

/** The indexed data of a record, except its row. It contains no personal data. */
export interface Body {
  /** Masked by `maskDocument`. */
  document: unknown
  /** The reason for a missing document. */
  note?: string
  masked?: string[]
  key?: string
  headers?: { name: string; value: string }[]
  faults?: Problem[]
  /** Ids that are missing in its envelope and derive from its record, in the order `Id`, `CorrelationId`, `TraceId`. */
  ids?: [string, string, string]
  /** The event's origin, if this is another position. */
  origin?: RecordPosition
  /** The record that a dead letter or note refers to, and its arrival in the log, if the dead letter states it. */
  of?: RecordPosition
  ofAt?: number
  /** Only for a note: the position of the replay, and if the event was edited. */
  as?: RecordPosition
  edited?: boolean
}

/**
 * Number of bodies in a block. A larger block is hardly smaller per body, and reading one body costs the whole block.
 */
export const blockLength = 64

/**
 * Text that occurs in events of all applications, so that a block of one event is also compressed. A change needs a new
 * version of segments (segment.ts).
 */
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

/** Compresses several bodies into one block. */
export function toBlock(bodies: readonly Body[]): Uint8Array {
  return zstdCompressSync(bodies.map((body) => JSON.stringify(body)).join('\n'), writing)
}

/** Returns the texts of the bodies in a block. */
export function blockTexts(block: Uint8Array): string[] {
  return zstdDecompressSync(block, { dictionary }).toString().split('\n')
}
