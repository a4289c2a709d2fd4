import { expect } from 'chai'
import fc from 'fast-check'
import { maxDocumentBytes, Splitter } from '../../src/cli/splitter.ts'
import { anyText } from '../support/any-text.ts'

interface Found {
  line: number
  text?: string
  flaw?: string
}

/** Returns the documents and flaws that a Splitter finds in the chunks. */
function found(...chunks: (string | Uint8Array)[]): Found[] {
  const all: Found[] = []
  const splitter = new Splitter({
    onDocument: (bytes, line) => all.push({ line, text: Buffer.from(bytes).toString() }),
    onFlaw: ({ message }, line) => all.push({ line, flaw: message }),
  })
  for (const chunk of chunks) splitter.write(Buffer.from(chunk))
  splitter.end()
  return all
}

const texts = (...chunks: (string | Uint8Array)[]) => found(...chunks).map(({ text, flaw }) => text ?? { flaw })

function cut(bytes: Uint8Array, places: number[]): Uint8Array[] {
  const ends = [...places.map((place) => Math.floor(place * bytes.length)), bytes.length].sort((a, b) => a - b)
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

const someDocuments = fc.array(
  fc.dictionary(anyText(), fc.oneof(anyText(), fc.jsonValue({ maxDepth: 3 })), { minKeys: 1, maxKeys: 4 }),
  { minLength: 1, maxLength: 5 },
)
const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 })

describe('Splitter', () => {
  it('finds one document in each line, with LF or CRLF, with or without a final newline', () => {
    for (const end of ['', '\n', '\r\n', '\n\n \n']) {
      for (const newline of ['\n', '\r\n', '\n\n']) {
        expect(texts(`{"a":1}${newline}{"b":2}${end}`).map((text) => JSON.parse(`${text}`))).to.deep.equal([
          { a: 1 },
          { b: 2 },
        ])
      }
    }
  })

  it('finds one document over several lines, or several documents in sequence', () => {
    const pretty = JSON.stringify({ a: [{ b: '{' }], c: '"}\\' }, null, 2)
    expect(texts(pretty)).to.deep.equal([pretty])
    expect(found(`\n${pretty}\n\n${pretty}\n`)).to.deep.equal([
      { line: 2, text: pretty },
      { line: 11, text: pretty },
    ])
  })

  it('finds the items of a list, each with the line where it begins', () => {
    expect(found('[\n  {"a":[1,2]},\n\n  1, "x"\n]\n')).to.deep.equal([
      { line: 2, text: '{"a":[1,2]}' },
      { line: 4, text: '1' },
      { line: 4, text: '"x"\n' },
    ])
  })

  it('finds the same documents in all three forms of input, however the bytes are split into chunks', () => {
    const forms = [
      (documents: object[]) => documents.map((each) => JSON.stringify(each)).join('\n'),
      (documents: object[]) => documents.map((each) => `${JSON.stringify(each)}\r\n`).join(''),
      (documents: object[]) => `\uFEFF${JSON.stringify(documents)}`,
      (documents: object[]) => JSON.stringify(documents, null, 2),
      (documents: object[]) => JSON.stringify(documents, null, 1).replaceAll(/^ +/gm, ''),
      (documents: object[]) => documents.map((each) => JSON.stringify(each, null, '\t')).join('\n'),
      (documents: object[]) => documents.map((each) => JSON.stringify(each)).join(''),
    ]
    fc.assert(
      fc.property(someDocuments, places, fc.constantFrom(...forms), (documents, at, form) => {
        const bytes = Buffer.from(form(documents))
        const whole = found(bytes)
        expect(whole.map(({ text = '' }) => JSON.parse(text))).to.deep.equal(JSON.parse(JSON.stringify(documents)))
        expect(found(...cut(bytes, at))).to.deep.equal(whole)
        expect(found(...cut(bytes, at), '', '\n')).to.have.length(whole.length)
      }),
      { numRuns: 200 },
    )
  })

  it('finds the same documents in arbitrary bytes that arrive at once or byte by byte, and ignores only white space', () => {
    const pieces = fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', '\n', '\r', ' ', 'é', 'x', '\0', '\uFEFF')
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.array(pieces).map((all) => Buffer.from(all.join(''))),
    )
    fc.assert(
      fc.property(anything, (bytes) => {
        const whole = found(bytes)
        expect(found(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).to.deep.equal(whole)
        const says = /[^\s[\],\uFEFF\uFFFD]/.test(Buffer.from(bytes).toString())
        if (says) expect(whole).not.to.have.length(0)
      }),
      { numRuns: 1_000 },
    )
  })

  it('finds all other lines if one line is broken', () => {
    const lines = ['{"a":1}', '{"b":"x', '{"c":{', 'd', '{"e":5}']
    expect(texts(lines.join('\n'))).to.deep.equal(lines)
    const [first = '', ...others] = [...lines].reverse()
    expect(texts([first, ...others].join('\n'))).to.deep.equal([first, ...others])
  })

  it('continues after a broken first document at the next line that begins with an object', () => {
    expect(texts('{"a":"x\n{"b":1}\n{"c":1}')).to.deep.equal(['{"a":"x\n', '{"b":1}', '{"c":1}'])
    expect(texts('{"a":1\n{"b":1}\n')).to.deep.equal(['{"a":1\n', '{"b":1}'])
    expect(texts('[\n{"a":"x\n},\n{"b":1}\n]')).to.deep.equal(['{"a":"x\n},\n', '{"b":1}\n'])
  })

  it('reports an empty or unfinished list, and a comma without an item', () => {
    expect(texts('[{"a":1}')).to.deep.equal(['{"a":1}', { flaw: 'ends within a list' }])
    expect(texts('[{"a":1},')).to.deep.equal(['{"a":1}', { flaw: 'ends within a list' }])
    expect(texts('[{"a":')).to.deep.equal(['{"a":', { flaw: 'ends within a list' }])
    expect(texts('[]')).to.deep.equal([{ flaw: 'is an empty list' }])
    expect(texts('[{},]')).to.deep.equal(['{}', { flaw: 'has a comma without an item next to it' }])
    expect(texts('[ {"a":"x\n  }, {} ]')).to.deep.equal([
      '{"a":"x\n  }, {} ]',
      { flaw: 'is a list with an unreadable rest' },
    ])
  })

  it('reports a document larger than a Kafka record without keeping it, and reads the next one', () => {
    const filled = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`
    const [most, more] = [filled(maxDocumentBytes), filled(maxDocumentBytes + 1)]
    const large = { flaw: 'is larger than 1 MiB' }
    expect(texts('{}\n', more, '\n', most, '\n{}')).to.deep.equal(['{}', large, most, '{}'])
    expect(texts(most, '\n{}\n')).to.deep.equal([most, '{}'])
    expect(texts(more, '\n{}\n')).to.deep.equal([large, '{}'])
    expect(texts('[', more, ',', most, ']')).to.deep.equal([large, most])
    expect(texts(...Array.from({ length: 11 }, () => 'x'.repeat(2 ** 20)))).to.deep.equal([large])
  })

  it('finds no document in empty input, and rejects UTF-16', () => {
    for (const text of ['', '\n', ' \r\n\t', '\uFEFF', '\uFEFF\n']) expect(found(text)).to.deep.equal([])
    for (const bytes of [
      [0xff, 0xfe, 0x7b, 0],
      [0xfe, 0xff, 0, 0x7b, 0, 0x0a, 0],
      [0xef, 0xbb, 0x7b],
    ]) {
      expect(texts(Uint8Array.from(bytes))).to.deep.equal([{ flaw: 'is not UTF-8 text' }])
    }
  })
})
