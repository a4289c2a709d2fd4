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
  /** Ids that find the record. */
  guids: Iterable<string>
  body: Body
  /** The subject of the event (ingest/examine.ts); null if no reaction is expected. */
  subject: string | null
}

/** The position up to which a partition is read. */
export interface Position {
  topic: string
  partition: number
  /** Id of the current topic; a topic that is created again has a new one. */
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

/** The index's data of a record besides its row. It has no personal data. */
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
  /** The event's first position, if that is another one. */
  origin?: RecordPosition
  /** The record that a dead letter or a note is about, and when it reached the log, if the dead letter has the time. */
  of?: RecordPosition
  ofAt?: number
  /** The position of the replay, and whether the event was edited; for a note. */
  as?: RecordPosition
  edited?: boolean
}

/** Bodies in a block: more compress no better, and reading one costs all of its block. */
export const blockLength = 64

/**
 * Text that events of any application share, so that a block of one event compresses, too. Another dictionary needs
 * another version (segment.ts).
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
