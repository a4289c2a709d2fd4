/**
 * Buckets in seconds of `orderflow_reaction_seconds`. Only these numbers can be the `seconds` of an objective, because the metric counts the
 * reactions within each of them. Services, sidecars and the broker between two events may be away for a while.
 */
export const reactionBuckets: readonly number[] = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600]
