import type { Admin } from '@platformatic/kafka'
import { answerOf, requestOf } from '../stream/kafka-request.ts'

/** Whether a user may read and write a topic. */
export interface TopicUse {
  read: boolean
  write: boolean
}

/** What we look at of an answer to Kafka's request `Metadata`. */
interface Metadata {
  topics: { name: string | null; errorCode: number; topicAuthorizedOperations?: number }[]
}

/** Kafka's numbers of operations: their places in the field of bits that it answers with (KIP-430). */
const bits = { read: 3, write: 4 }
/** What stands in that field when a broker does not say: one that was not asked, or is older than Kafka 2.3. */
const unsaid = -2147483648
/** Kafka's error of a topic that the user may not even see (TOPIC_AUTHORIZATION_FAILED). */
const notSeen = 29

/** What this user may do with topics. There is no entry for one of which the broker does not say it, or that it does not have. */
export async function topicUses(admin: Admin, topics: string[]): Promise<Map<string, TopicUse>> {
  const { topics: answers } = await requestOf<Metadata>(admin, 'Metadata', topics, false, true).catch(
    answerOf<Metadata>,
  )
  const uses = new Map<string, TopicUse>()
  for (const { name, errorCode, topicAuthorizedOperations: operations = unsaid } of answers) {
    const has = (bit: number) => ((operations >> bit) & 1) === 1
    if (name === null) continue
    if (errorCode === notSeen) uses.set(name, { read: false, write: false })
    else if (operations !== unsaid) uses.set(name, { read: has(bits.read), write: has(bits.write) })
  }
  return uses
}
