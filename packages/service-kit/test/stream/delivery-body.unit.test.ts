import { expect } from 'chai'
import { readEntries } from '../../src/stream/delivery-body.ts'

/** Yields the text in pieces of `size` bytes. */
async function* pieces(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

describe('readEntries', () => {
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
          expect(await readEntries(pieces(text, size)), `${size}`).to.deep.equal(expected)
        }
      }
    })
  }

  it('reads a large record', async () => {
    const value = Buffer.alloc(300_000, 'x')
    const text = JSON.stringify({ entries: [{ entryId: '1', event: value.toString('base64'), metadata: {} }] })
    expect((await readEntries(pieces(text, 65_536)))[0]?.value.equals(value)).to.equal(true)
  })

  it('reads an empty list', async () => {
    expect(await readEntries(pieces('{"entries":[]}', 100))).to.deep.equal([])
  })

  it('refuses a body without a complete list of entries', async () => {
    const refused = ['', '{}', '[]', '{"entries":{"a":1}}', '{"entries":[{"event":null}', '{"entries":["a"', 'null']
    for (const text of refused) {
      const error = await readEntries(pieces(text, 5)).catch((thrown: unknown) => thrown)
      expect(error, text).to.be.instanceOf(TypeError)
    }
  })
})
