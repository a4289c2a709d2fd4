/** Where a record stands in the log. The offset is a decimal string: Kafka's are 64 bits wide. */
export interface Place {
  topic: string
  partition: number
  offset: string
}

/** A place as text, such as `a-topic/2/17`. */
export const placeText = ({ topic, partition, offset }: Place): string => `${topic}/${partition}/${offset}`

const form = /^(?<topic>[a-zA-Z0-9._-]{1,249})\/(?<partition>0|[1-9]\d{0,8})\/(?<offset>0|[1-9]\d{0,18})$/

/** What 64 bits hold with a sign (Kafka protocol, INT64): no client can ask for more. */
const lastOffset = 2n ** 63n - 1n

/** The place that a text names; undefined when it names none. */
export function parsePlace(text: string | undefined): Place | undefined {
  const named = form.exec(text ?? '')?.groups as Record<keyof Place, string> | undefined
  if (!named || BigInt(named.offset) > lastOffset) return undefined
  return { topic: named.topic, partition: Number(named.partition), offset: named.offset }
}

/** Whether both are of one partition and the first is the older. Between partitions there is no order. */
export function precedes(first: Place, second: Place): boolean {
  return (
    first.topic === second.topic && first.partition === second.partition && BigInt(first.offset) < BigInt(second.offset)
  )
}
