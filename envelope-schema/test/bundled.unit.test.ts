import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { expect } from 'chai'
import { bundle, eventTypes, parseEvent, parseFullEnvelope } from '../index.ts'
import { bytesOf, fixturesIn, passes } from './support/documents.ts'

function validator() {
  const ajv = new Ajv2020({ allErrors: true })
  ajv.addFormat('date-time', fullFormats['date-time'])
  ajv.addKeyword('x-pii')
  return ajv
}

/** The JSON objects of all fixtures, except objects with U+0000, which only the parser refuses. */
const documents = ['valid', 'invalid'].flatMap((kind) =>
  fixturesIn<{ envelope?: unknown; input?: unknown }>(kind).flatMap(({ envelope, input }) => {
    const document = (envelope ?? input) as Record<string, unknown> | null | undefined
    return typeof document === 'object' && document !== null && !JSON.stringify(document).includes('\\u0000')
      ? [document]
      : []
  }),
)

describe('bundle', () => {
  for (const type of eventTypes) {
    for (const [variant, parse] of [
      ['full', parseFullEnvelope],
      ['received', parseEvent],
    ] as const) {
      it(`accepts the same fixtures as the parser: ${type}, ${variant}`, () => {
        const [Name, version] = type.split('@')
        const check = validator().compile(bundle(type, variant))
        for (const document of documents) {
          const isOfType = document.Name === Name && document.Version === Number(version)
          expect(check(document), JSON.stringify(document)).to.equal(isOfType && passes(parse, bytesOf(document)))
        }
      })
    }
  }
})
