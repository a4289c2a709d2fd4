/**
 * A part of the time for which open deadlines are listed together, as `width:number`. A bucket in the near future is a minute. Later buckets are wider,
 * so that a process knows all its buckets. When a wide bucket begins, its deadlines move to narrower ones.
 */
export type Bucket = string

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** The widths of buckets, and the distance in time up to which each is used. It exceeds the next width by the time for which a bucket is split early. */
const widths = [
  { name: 'm', ms: minuteMs, within: hourMs + 2 * minuteMs },
  { name: 'h', ms: hourMs, within: 2 * dayMs },
  { name: 'd', ms: dayMs, within: 60 * dayMs },
  { name: 'M', ms: 30 * dayMs, within: Number.POSITIVE_INFINITY },
] as const

const widthOf = (bucket: Bucket) => widths.find(({ name }) => bucket.startsWith(name)) as (typeof widths)[number]

/** Returns the bucket of a deadline. @param at the time of the deadline, in milliseconds since 1970, as `now` is */
export function bucketOf(at: number, now: number): Bucket {
  const { name, ms } = widths.find(({ within }) => at - now <= within) as (typeof widths)[number]
  return `${name}:${Math.floor(at / ms)}`
}

/** Returns the time at which a bucket must be read, in milliseconds since 1970. A wide bucket is read a little earlier, because it is then split. */
export function beginOf(bucket: Bucket): number {
  const { ms } = widthOf(bucket)
  const begin = Number(bucket.slice(2)) * ms
  return ms === minuteMs ? begin : begin - minuteMs
}

/** Returns the time before which all deadlines of a bucket pass, in milliseconds since 1970. */
export const endOf = (bucket: Bucket): number => (Number(bucket.slice(2)) + 1) * widthOf(bucket).ms

/** Returns true if the deadlines of a bucket must move to narrower ones before they pass. */
export const isWide = (bucket: Bucket): boolean => widthOf(bucket).ms > minuteMs
