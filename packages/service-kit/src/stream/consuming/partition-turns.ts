import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { BulkEntry } from '../log/record.ts'

/** The turn of a delivery, among the deliveries of the same partition. */
export type Turn = ReturnType<ReturnType<typeof createPartitionTurns>['begin']>

type Partition = ReturnType<typeof newPartition>

/** The number of dead letters that are remembered for a partition. After a restart, the sidecar repeats the records of about a second. */
const maxDeadLetters = 1_000

const continuedMs = 1_000

/**
 * Creates the turns of a topic's deliveries. The sidecar delivers a partition again if it stopped waiting for an answer, for example after a restart. The
 * later delivery then waits for the current step of the earlier delivery, whose turn is over. So only one delivery of a partition handles records.
 */
export function createPartitionTurns() {
  const partitions = new Map<number, Partition>()

  return {
    begin(number: number) {
      const turn = { isOver: false }
      const partition = partitions.get(number) ?? newPartition()
      const { deadLetters } = partition
      partitions.set(number, partition)
      partition.turn.isOver = true
      partition.turn = turn
      const isContinued = performance.now() - partition.endedAt < continuedMs
      return {
        /**
         * True if this process answered a delivery of the partition in the last second. So no other process has handled the delivered records. A sidecar gets
         * the partition of a killed one only after the session's time-out, which is longer.
         */
        isContinued,
        /** Ends the delivery. */
        end() {
          partition.endedAt = performance.now()
        },
        /** True if a later delivery of the partition has begun. The sidecar then ignores the answer to this delivery. */
        get isOver() {
          return turn.isOver
        },
        /** Runs a step of the delivery, after the steps of earlier deliveries that have begun. */
        run<T>(step: () => Promise<T>): Promise<T> {
          const result = partition.steps.then(step)
          partition.steps = result.catch(() => {})
          return result
        },
        /** Notes that the record has a dead letter. */
        noteDeadLetter: (entry: BulkEntry) => void deadLetters.set(positionIn(entry), contentOf(entry)),
        /** Returns true if this process wrote a dead letter of the record, in this delivery or an earlier one. */
        hasDeadLetter(entry: BulkEntry): boolean {
          const content = deadLetters.size > 0 ? deadLetters.get(positionIn(entry)) : undefined
          return content !== undefined && content === contentOf(entry)
        },
      }
    },
  }
}

const newPartition = () => ({
  turn: { isOver: true },
  steps: Promise.resolve() as Promise<unknown>,
  /** The end of the last delivery, by `performance.now()`. */
  endedAt: Number.NEGATIVE_INFINITY,
  /** The contents of records with a dead letter, by position. A topic that was created again has other records at these positions. */
  deadLetters: new LRUCache<string, string>({ max: maxDeadLetters }),
})

const positionIn = ({ metadata }: BulkEntry): string => `${metadata.__partition}/${metadata.__offset}`

const contentOf = ({ metadata, value }: BulkEntry): string =>
  `${metadata.__timestamp} ${createHash('sha256').update(value).digest('base64')}`
