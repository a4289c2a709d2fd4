import { parseGuid } from '@orderflow/envelope-schema'
import { parsePlace } from '@orderflow/service-kit/log'
import type { EventFilter, Place } from '../../api/events.ts'
import { type Kind, type KindFilter, kindTest } from '../../model/kind.ts'

/** A filter, ready to be asked. */
export interface Query {
  test: (kind: Kind) => boolean
  /** Milliseconds since 1970. */
  from: number
  to: number
  partition: number | undefined
  guid: string | undefined
  place: Place | undefined
  /** Whether only kinds matter, whose counts are known. */
  isOfKinds: boolean
}

/** What a filter asks. Of the words of `q` a GUID and a place are looked up as such. */
export function queryOf(filter: EventFilter): Query {
  const words = (filter.q ?? '').split(/\s+/).filter(Boolean)
  const place = words.map(parsePlace).find((one) => one !== undefined)
  const guids = words.map(parseGuid)
  const guid: string | undefined = filter.guid ?? guids.find((each) => each !== undefined)
  const rest = words
    .filter((word, index) => !parsePlace(word) && (guid === undefined || guids[index] !== guid))
    .map((word) => word.toLowerCase())
  const kinds: KindFilter = { ...filter, words: rest }
  return {
    test: kindTest(kinds),
    from: filter.from === undefined ? 0 : Date.parse(filter.from),
    to: filter.to === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(filter.to),
    partition: filter.partition,
    guid,
    place,
    isOfKinds:
      filter.from === undefined && filter.to === undefined && filter.partition === undefined && !guid && !place,
  }
}
