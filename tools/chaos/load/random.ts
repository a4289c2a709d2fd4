import { createHash } from 'node:crypto'

export interface Random {
  /** Returns a number from 0 to below 1. */
  next(): number
  /** Returns an integer from `least` to `most`, both included. */
  between(least: number, most: number): number
  chance(share: number): boolean
  pick<T>(list: readonly T[]): T
  shuffle<T>(list: readonly T[]): T[]
}

/** Creates a source that depends only on the seed (mulberry32, Tommy Ettinger, public domain). */
export function createRandom(...seed: (string | number)[]): Random {
  let state = createHash('sha256').update(JSON.stringify(seed)).digest().readUInt32LE()
  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    between,
    chance: (share) => next() < share,
    pick: <T>(list: readonly T[]) => list[between(0, list.length - 1)] as T,
    shuffle: <T>(list: readonly T[]) => {
      const rest = [...list]
      return list.map(() => rest.splice(between(0, rest.length - 1), 1)[0] as T)
    },
  }
}
