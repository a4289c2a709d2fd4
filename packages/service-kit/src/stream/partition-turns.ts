/** The turn of a delivery, among the deliveries of the same partition. */
export interface Turn {
  /** True if a later delivery of the partition has begun. The sidecar then ignores the answer to this delivery. */
  readonly isOver: boolean
  /** Runs a step of the delivery, after the steps of earlier deliveries that have begun. */
  run<T>(step: () => Promise<T>): Promise<T>
}

/**
 * Creates the turns of a topic's deliveries. The sidecar delivers a partition again if it stopped waiting for an answer, for example after a restart. The
 * later delivery then waits for the current step of the earlier delivery, whose turn is over. So only one delivery of a partition handles records.
 */
export function createPartitionTurns(): { begin(partition: number): Turn } {
  const latest = new Map<number, { turn: { isOver: boolean }; steps: () => Promise<unknown> }>()
  return {
    begin(partition) {
      const earlier = latest.get(partition)
      if (earlier) earlier.turn.isOver = true
      let steps: Promise<unknown> = earlier?.steps() ?? Promise.resolve()
      const turn = {
        isOver: false,
        run<T>(step: () => Promise<T>): Promise<T> {
          const result = steps.then(step)
          steps = result.catch(() => {})
          return result
        },
      }
      latest.set(partition, { turn, steps: () => steps })
      return turn
    },
  }
}
