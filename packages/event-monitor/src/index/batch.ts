import type { Kind } from '../model/kind.ts'
import type { Body } from './body.ts'

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
