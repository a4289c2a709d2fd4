import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Problem } from '@orderflow/envelope'
import type { RecordPosition } from '../api/events.ts'
import type { Kind } from '../model/kind.ts'

export interface IndexRecord {
  topic: string
  partition: number
  offset: number
  /** Arrival in milliseconds since 1970. The index stores `recordTime` of it, because publishers can set any time. */
  at: number
  bytes: number
  kind: Kind
  guids: Iterable<string>
  body: Body
  /** The event's shared id (`SharedIdOf` in ingest/rules.ts). */
  sharedId: string | null
  /** The event's Id. */
  id: string
}

export interface Position {
  topic: string
  partition: number
  /** Changes if the topic is created again. */
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

/** The stored content of a record. Contains no personal data. */
export interface Body {
  /** Masked by `maskDocument`. */
  document: unknown
  note?: string
  masked?: string[]
  key?: string
  headers?: { name: string; value: string }[]
  faults?: Problem[]
  /** Derived ids, in this order: `Id`, `CorrelationId`, `TraceId`. */
  ids?: [string, string, string]
  /** The position of the original record, if this record is a copy. */
  origin?: RecordPosition
  /** The record that a dead letter or note refers to, and its arrival if known. */
  of?: RecordPosition
  ofAt?: number
  /** The position of the replay that a note describes, and true if the event was edited. */
  as?: RecordPosition
  edited?: boolean
}

/** Number of bodies in a block. Reading one body reads the whole block. Larger blocks would hardly save space. */
export const blockLength = 64

/** Text that most events contain, to compress small blocks well. A change needs a new `version` in segment.ts. */
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

export function toBlock(bodies: readonly Body[]): Uint8Array {
  return zstdCompressSync(bodies.map((body) => JSON.stringify(body)).join('\n'), writing)
}

export function blockTexts(block: Uint8Array): string[] {
  return zstdDecompressSync(block, { dictionary }).toString().split('\n')
}
