import { expect } from 'chai'
import { createTurns, readParts } from '../../../src/stream/consuming/delivery-body.ts'
import type { BulkEntry } from '../../../src/stream/log/record.ts'

/** Yields the text in pieces of `size` bytes. */
async function* pieces(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function readAll(body: AsyncIterable<Buffer>): Promise<BulkEntry[]> {
  return (await readApart(body)).flat()
}

async function readApart(body: AsyncIterable<Buffer>): Promise<BulkEntry[][]> {
  const parts: BulkEntry[][] = []
  for await (const part of readParts(body, createTurns(1))) parts.push(part)
  return parts
}

const mebibyte = 1024 * 1024

/** Returns a delivery of records that take half a MiB each. */
function largeDelivery(count: number): string {
  const event = Buffer.alloc((3 / 8) * mebibyte, 'x').toString('base64')
  return JSON.stringify({ entries: Array.from({ length: count }, (_, entryId) => ({ entryId, event, metadata: {} })) })
}

describe('readParts', () => {
  const texts = ['', 'plain', 'quote " and \\', '\\', '"', '{}[]', 'ä€😀', '\\"', '\u0000\n']
  const entries = texts.map((text, index) => ({
    entryId: text,
    event: index % 3 === 2 ? null : Buffer.from(text).toString('base64'),
    contentType: 'application/octet-stream',
    metadata: { [text]: text, __key: text },
  }))
  const others = { id: '[{"', metadata: { '{': '}' }, pubsubname: '\\"' }
  const expected = entries.map(({ entryId, event, metadata }) => ({
    entryId,
    metadata,
    value: Buffer.from(event ?? '', 'base64'),
  }))

  for (const [order, delivery] of Object.entries({
    before: { entries, ...others },
    after: { ...others, entries },
  })) {
    it(`reads the same entries ${order} the other fields, however the body is divided`, async () => {
      for (const text of [JSON.stringify(delivery), JSON.stringify(delivery, null, 2)]) {
        for (const size of [1, 2, 3, 7, 64, 1_000, 100_000]) {
          expect(await readAll(pieces(text, size)), `${size}`).to.deep.equal(expected)
        }
      }
    })
  }

  it('reads a large record', async () => {
    const value = Buffer.alloc(300_000, 'x')
    const text = JSON.stringify({ entries: [{ entryId: '1', event: value.toString('base64'), metadata: {} }] })
    expect((await readAll(pieces(text, 65_536)))[0]?.value.equals(value)).to.equal(true)
  })

  it('reads an empty list', async () => {
    expect(await readAll(pieces('{"entries":[]}', 100))).to.deep.equal([])
  })

  it('refuses a body without a complete list of entries', async () => {
    const refused = ['', '{}', '[]', '{"entries":{"a":1}}', '{"entries":[{"event":null}', '{"entries":["a"', 'null']
    for (const text of refused) {
      const error = await readAll(pieces(text, 5)).catch((thrown: unknown) => thrown)
      expect(error, text).to.be.instanceOf(TypeError)
    }
  })

  it('divides a large delivery into parts of about two MiB, and keeps the order', async () => {
    const parts = await readApart(pieces(largeDelivery(9), 65_536))
    expect(parts.map((part) => part.map(({ entryId }) => entryId))).to.deep.equal([
      [0, 1, 2],
      [3, 4, 5, 6],
      [7, 8],
    ])
  })

  it('reads a small delivery as one part', async () => {
    const parts = await readApart(pieces(JSON.stringify({ entries }), 100))
    expect(parts.map(({ length }) => length)).to.deep.equal([entries.length])
  })

  it('reads no more of the body while a part is handled', async () => {
    let read = 0
    async function* counted() {
      for await (const piece of pieces(largeDelivery(9), 65_536)) {
        read += piece.length
        yield piece
      }
    }
    const parts = readParts(counted(), createTurns(1))
    await parts.next()
    await new Promise((resolve) => setImmediate(resolve))
    expect(read).to.be.within(2 * mebibyte, 2 * mebibyte + 65_536)
    await parts.return(undefined)
  })

  it('ends the turn of a part when the caller stops in the middle of a delivery', async () => {
    const takeTurn = createTurns(1)
    for await (const part of readParts(pieces(largeDelivery(9), 65_536), takeTurn)) {
      expect(part).to.have.length(3)
      break
    }
    await takeTurn(1)
  })

  it('yields the parts before an invalid entry', async () => {
    const lengths: number[] = []
    let thrown: unknown
    try {
      for await (const { length } of readParts(
        pieces(`${largeDelivery(5).slice(0, -2)},{x}]}`, 65_536),
        createTurns(1),
      ))
        lengths.push(length)
    } catch (error) {
      thrown = error
    }
    expect(lengths).to.deep.equal([3])
    expect(thrown).to.be.instanceOf(TypeError)
  })
})

describe('createTurns', () => {
  it('lets parts wait in their order while the current parts have too many bytes', async () => {
    const takeTurn = createTurns(10)
    const begun: string[] = []
    const take = async (name: string, bytes: number) => {
      const end = await takeTurn(bytes)
      begun.push(name)
      return end
    }
    const parts = [take('a', 6), take('b', 4), take('c', 20), take('d', 1)] as const
    const [endA, endB] = [await parts[0], await parts[1]]
    expect(begun).to.deep.equal(['a', 'b'])
    endA()
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun).to.deep.equal(['a', 'b'])
    endB()
    const endC = await parts[2]
    expect(begun).to.deep.equal(['a', 'b', 'c'])
    endC()
    await parts[3]
  })
})
