import type { Reaction } from '@orderflow/service-kit/application'
import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import type { TrustSettings } from '@orderflow/service-kit/trust'
import type { EventRow } from '../api/events.ts'
import type { Unreadable } from '../api/truth.ts'
import type { SegmentFacts } from '../index/series.ts'
import type { Kind } from '../model/kind.ts'

/** What the thread that reads the log is told at its start. */
export interface IngestData {
  kafka: KafkaConnection
  /** Whom to trust, and the service's folder, which the file's name is seen from. */
  trust: TrustSettings
  /** The setting of that name. */
  positionIdsBefore: string
  root: string
  /** Expected reactions, by services.json. */
  reactions: readonly Reaction[]
  folder: string
  segmentEvents: number
  keepEvents: number
  keepMs: number
}

/** What it is told later. */
export type ToIngest =
  /** Whether somebody looks, so that rows are worth making; and by which hashes of GUIDs somebody looks. */
  { type: 'watch'; isLive: boolean; hashes: number[] } | { type: 'stop' }

/** What it tells. */
export type FromIngest = IngestBatch | IngestState | { type: 'stopped' }

/** Events that were indexed: their counts by kind, which are exact, and the newest few rows of each kind. */
export interface IngestBatch {
  type: 'batch'
  kinds: {
    kind: Kind
    count: number
    rows: EventRow[]
    /** Of the newest reactions: milliseconds since their causes reached the log. */
    delays: number[]
  }[]
  /** Of each hash that is watched: rows, and how many. */
  watched: { hash: number; kind: Kind; count: number; rows: EventRow[] }[]
}

export interface IngestState {
  type: 'state'
  isConnected: boolean
  /** Why not, in words. */
  error: string | null
  /** Null until Kafka told. */
  lag: number | null
  /** While the others are read. */
  unreadable: Unreadable[]
  perSecond: number
  segments: SegmentFacts[]
}
