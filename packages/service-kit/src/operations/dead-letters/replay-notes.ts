import { deadLetterTopic } from '@orderflow/envelope-schema'
import { type Place, placeText } from '../../stream/record.ts'
import type { LogReader } from '../log-reader.ts'
import { type ResendNote, readLetters } from './letter.ts'

/** How far a list of dead letters was read: the first unread offset of each partition, by `topic/partition`. */
export type ReadUpTo = ReadonlyMap<string, bigint>

/** The notes that were added after a list of dead letters was made, by whichever process. */
export interface ReplayNotes {
  /** Reads on to the present end of the dead-letter topics of these topics. */
  catchUp(topics: Iterable<string>): Promise<void>
  /** The note that a record was replayed: the newest one for its position that is not about another record. */
  noteOf(failed: { place: Place; record: string | undefined }): ResendNote | undefined
}

const partitionText = (topic: string, partition: number) => `${topic}/${partition}`

/** Follows the notes from where a list of dead letters ends; from the oldest record without `readUpTo`. */
export function followNotes(log: LogReader, readUpTo: ReadUpTo = new Map()): ReplayNotes {
  const next = new Map(readUpTo)
  const notes = new Map<string, ResendNote[]>()

  async function readOn(topic: string): Promise<void> {
    const spans = (await log.spans(topic)).map((span) => {
      const from = next.get(partitionText(topic, span.partition)) ?? span.start
      // Offsets beyond the end are those of a topic that was deleted and created again.
      return { ...span, start: from > span.end || from < span.start ? span.start : from }
    })
    const unread = spans.filter(({ start, end }) => start < end)
    for await (const read of readLetters(log, topic, unread))
      if (read.kind === 'note') notes.set(placeText(read.of), [...(notes.get(placeText(read.of)) ?? []), read])
    for (const { partition, end } of spans) next.set(partitionText(topic, partition), end)
  }

  return {
    async catchUp(topics) {
      for (const topic of new Set(topics)) await readOn(deadLetterTopic(topic))
    },
    noteOf: ({ place, record }) =>
      notes
        .get(placeText(place))
        ?.findLast(({ ofRecord }) => ofRecord === undefined || record === undefined || ofRecord === record),
  }
}

/** The present ends of all dead-letter topics, to be taken before they are read. */
export async function deadLetterEnds(log: LogReader): Promise<ReadUpTo> {
  const ends = new Map<string, bigint>()
  for (const topic of await deadLetterTopics(log)) {
    for (const { partition, end } of await log.spans(topic)) ends.set(partitionText(topic, partition), end)
  }
  return ends
}

const suffix = deadLetterTopic('')

async function deadLetterTopics(log: LogReader): Promise<string[]> {
  return (await log.topics()).filter((topic) => topic.endsWith(suffix))
}
