/** Returns the topic that holds the dead letters of a topic: the topic's name, then `.dead`. */
export function deadLetterTopic(topic: string): string {
  return `${topic}.dead`
}
