/** What services.json declares of a topic. */
export interface TopicFacts {
  /** Fields of the Payload whose values are the partition key. */
  key: readonly string[]
  /** Names of the events that services publish to the topic. */
  events: readonly string[]
}
