import fc from 'fast-check'
import { type HostileRecord, hostileRecords } from '../../support/hostile/hostile.ts'

/** The largest record that is changed. Larger ones are used once as they are, because their mutants would take most of the time. */
const maxMutatedBytes = 4_000
const seeds = 4_000

/**
 * Generates endless hostile records, the same ones for the same seed: samples of fast-check, and mutants of these samples. A mutant is
 * created a hundred times faster than a sample.
 */
export function* mutants(seed: number): Generator<HostileRecord> {
  const made = fc.sample(hostileRecords(20), { seed, numRuns: seeds / 20 }).flat()
  yield* made
  const small = made.filter(({ value }) => (value?.length ?? 0) <= maxMutatedBytes)
  const random = generator(seed)
  for (let count = 0; ; count += 1) {
    const record = small[count % small.length] as HostileRecord
    const orderId = guidOf(random)
    yield { ...record, orderId, value: record.value && mutated(record.value, record.orderId, orderId, random) }
  }
}

type Random = (below: number) => number

/** Creates a generator of random numbers (mulberry32 by Tommy Ettinger). */
function generator(seed: number): Random {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

function guidOf(random: Random): string {
  const hex = Array.from({ length: 8 }, () => random(0x10000).toString(16).padStart(4, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Replaces the order’s id. In half of the records, it also changes, adds, doubles or drops up to three bytes. */
function mutated(value: Buffer, from: string, to: string, random: Random): Buffer {
  let bytes = Buffer.from(value.toString('latin1').replaceAll(from, to), 'latin1')
  const edits = random(2) === 0 ? 0 : 1 + random(3)
  for (let edit = 0; edit < edits && bytes.length > 0; edit += 1) {
    const at = random(bytes.length)
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
    const length = 1 + random(8)
    const ways = [
      () => [before, Buffer.of(random(256)), after.subarray(1)],
      () => [before, Buffer.from('{}[]",:0-\\u'.charAt(random(11))), after],
      () => [before, after.subarray(0, length), after],
      () => [before, after.subarray(length)],
    ]
    bytes = Buffer.concat((ways[random(ways.length)] as () => Buffer[])())
  }
  return bytes
}
