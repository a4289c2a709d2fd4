import { protocolErrors } from '@orderflow/kafka-log'

const dayMs = 24 * 60 * 60 * 1_000

interface Options {
  /** Returns the retention of the topics from which a rebuild restores entities, in milliseconds; negative without a limit. */
  read: () => Promise<ReadonlyMap<string, number>>
  /** Returns the time before which all open deadlines of this process pass, in milliseconds since 1970; undefined without deadlines. */
  openUntil: () => number | undefined
  /** Returns the time of the log in milliseconds since 1970; undefined if it is unknown. */
  time: () => number | undefined
}

const denied =
  'Kafka does not let this service read the retention of its topics, which may be shorter than its deadlines. ./orderflow acls prints the right (DescribeConfigs)'

export type KeptDeadlines = ReturnType<typeof createKeptDeadlines>

/**
 * Creates the check that Kafka keeps the events of entities until their deadlines. Otherwise a rebuild would lose an entity and its deadline. Only a
 * rebuild does harm, so this is a warning.
 */
export function createKeptDeadlines({ read, openUntil, time }: Options) {
  let warnings: readonly string[] = []

  async function compare(neededMs: number): Promise<string[]> {
    try {
      const shorter = [...(await read())].filter(([, keptMs]) => keptMs >= 0 && keptMs < neededMs)
      return shorter
        .toSorted((a, b) => a[1] - b[1])
        .slice(0, 1)
        .map((shortest) => textOf(shortest, neededMs))
    } catch (error) {
      if (!protocolErrors(error).includes('TOPIC_AUTHORIZATION_FAILED')) throw error
      return [denied]
    }
  }
  return {
    /** Returns the result of the last check. */
    warnings: () => warnings,
    /** The service calls it regularly. @throws an outage; the result then stays */
    async check(): Promise<void> {
      const [last, now] = [openUntil(), time()]
      if (now !== undefined) warnings = last === undefined ? [] : await compare(last - now)
    },
  }
}

function textOf([topic, keptMs]: readonly [string, number], neededMs: number): string {
  const [kept, needed] = [Number((keptMs / dayMs).toPrecision(3)), Math.ceil(neededMs / dayMs)]
  return `topic ${topic} keeps events for ${kept} days, but has a deadline in ${needed} days, which a rebuild would lose. Fix: ./orderflow retention --days ${needed}`
}
