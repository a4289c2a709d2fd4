/** Where a record stands in the log. The offset is a decimal string: Kafka's are 64 bits wide. */
export interface Place {
  topic: string
  partition: number
  offset: string
}

/** A place as text, such as `orderevents/2/17`. */
export const placeText = ({ topic, partition, offset }: Place): string => `${topic}/${partition}/${offset}`

const form = /^([a-zA-Z0-9._-]{1,249})\/(0|[1-9]\d{0,8})\/(0|[1-9]\d{0,18})$/

/** The place that a text names; undefined when it names none. */
export function parsePlace(text: string | undefined): Place | undefined {
  const [, topic, partition, offset] = form.exec(text ?? '') ?? []
  return topic && partition && offset ? { topic, partition: Number(partition), offset } : undefined
}
