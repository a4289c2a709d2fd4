/**
 * The buckets of the metric `orderflow_reaction_seconds`, in seconds. Only these numbers can be the `seconds` of an objective, because the metric
 * counts by bucket.
 */
export const reactionBuckets: readonly number[] = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600]
