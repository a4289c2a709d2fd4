import { expect } from 'chai'
import fc from 'fast-check'
import { mergeByTime } from '../src/merge-by-time.ts'

interface Item {
  source: number
  index: number
  timestamp: number
}

/** Merges lists of timestamps. Each read returns only some timestamps, or none, as for a transaction's marker. */
async function merged(sources: number[][], sizes: Iterator<number>): Promise<Item[]> {
  const cursors = sources.map((times, source) => ({ source, start: 0n, end: BigInt(times.length * 2) }))
  const items: Item[] = []
  const chunks = mergeByTime(cursors, async (empty) =>
    empty.map((cursor) => {
      const until = Math.min(Number(cursor.start) + 1 + ((sizes.next().value as number) % 5), Number(cursor.end))
      const found: Item[] = []
      // Only every second offset has a record.
      for (let offset = Number(cursor.start); offset < until; offset += 1) {
        if (offset % 2 === 1) continue
        const index = offset / 2
        found.push({ source: cursor.source, index, timestamp: sources[cursor.source]?.[index] ?? 0 })
      }
      cursor.start = BigInt(until)
      return found
    }),
  )
  for await (const chunk of chunks) items.push(...chunk)
  return items
}

const times = fc.array(fc.nat(20), { maxLength: 12 })

describe('mergeByTime', () => {
  it('returns every record once, and keeps the order of each partition, whatever the timestamps are', async () => {
    const property = fc.asyncProperty(
      fc.array(times, { maxLength: 4 }),
      fc.infiniteStream(fc.nat()),
      async (all, sizes) => {
        const items = await merged(all, sizes)
        for (const [source, own] of all.entries()) {
          expect(items.filter((item) => item.source === source).map(({ index }) => index)).to.deep.equal([
            ...own.keys(),
          ])
        }
      },
    )
    await fc.assert(property)
  })

  it('returns records in the order of time if each partition is sorted by time', async () => {
    const sorted = times.map((some) => some.toSorted((a, b) => a - b))
    const property = fc.asyncProperty(
      fc.array(sorted, { maxLength: 4 }),
      fc.infiniteStream(fc.nat()),
      async (all, sizes) => {
        const found = (await merged(all, sizes)).map(({ timestamp }) => timestamp)
        expect(found).to.deep.equal(found.toSorted((a, b) => a - b))
      },
    )
    await fc.assert(property)
  })

  it('returns records in the order of their arrival after the broker’s clock was ahead for a while', async () => {
    const hour = 3_600_000
    const [arrivals, sources] = [[] as string[], [[], []] as number[][]]
    for (let time = 0; time < 60; time += 1) {
      const source = time % 2
      sources[source]?.push(time + (time >= 20 && time < 30 ? hour : 0))
      arrivals.push(`${source}/${(sources[source]?.length ?? 0) - 1}`)
    }
    const found = (await merged(sources, Array(600).fill(3).values())).map(({ source, index }) => `${source}/${index}`)
    // Only the records at the correction may be exchanged, because the log does not contain their distance.
    const moved = found.map((record, index) => Math.abs(arrivals.indexOf(record) - index))
    expect(moved.filter((places) => places > 1)).to.deep.equal([])
  })
})
