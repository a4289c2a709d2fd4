/** How complete an answer is. Every view shows it. Times are ISO 8601 in UTC, everywhere in this API. */
export interface Truth {
  /** Records that are in the log and not yet in the index, of all topics; null while Kafka does not say. */
  indexLag: number | null
  /** When the newest record of the index reached the log; null while there is none. */
  newest: string | null
  /** The oldest record that is kept; what is older was there, and is not counted anywhere. Null while there is none. */
  oldestKept: string | null
  /** Records that are kept: at most a million, or seven days. */
  kept: number
  /** What the index never got: shown, and never hidden. */
  gaps: Gap[]
  /** Partitions that cannot be read now. Their records are missing until they can; all others are indexed. */
  unreadable: Unreadable[]
  /** Whether the log is read. The index answers without it, and why it is not is in the monitor's own log. */
  isConnected: boolean
}

/** A partition that Kafka cannot serve now. The monitor tries again every second. */
export interface Unreadable {
  topic: string
  /** Null for a topic that Kafka cannot describe. */
  partition: number | null
  /** What is wrong, and what to do. */
  why: string
}

/** Records of a partition that the index does not have. */
export interface Gap {
  topic: string
  partition: number
  /** The first offset that is missing. */
  from: string
  /** The first that is there again. */
  to: string
  /** When it was noticed. */
  at: string
  /**
   * - `truncated`: the log had dropped them before they were read;
   * - `recreated`: the topic was made anew, and begins again with a lower offset.
   */
  why: 'truncated' | 'recreated'
}

/** A page of a list, newest first. */
export interface Page<T> {
  items: T[]
  /** Goes on with `cursor=`; null on the last page. */
  next: string | null
  complete: Truth & {
    shown: number
    /** How many there are in the index. A count that would take long stops: then `isAtLeast`. */
    total: number
    isAtLeast: boolean
  }
}

/** RFC 9457. What each request may be answered instead. */
export interface Problem {
  type: string
  title: string
  status: number
  detail?: string
  errors?: { pointer?: string; parameter?: string; detail: string }[]
}

/** `GET /v1/me`: what whoever looks may do here. */
export interface Me {
  /** Undefined in JSON where nobody is asked who they are (loopback). */
  id?: string
  /** `events:read`, `events:operate`, `events:reveal`. */
  scopes: string[]
  /** Whether seeing a personal value is recorded under a name, or, where nobody is asked, as `anybody on this machine`. */
  recordedAs: string
}
