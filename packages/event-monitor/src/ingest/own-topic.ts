/** Whether a topic is one of ours to show: those of Kafka's own begin with two underscores. */
export const isOwnTopic = (topic: string): boolean => !topic.startsWith('__')
