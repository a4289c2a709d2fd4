import { expect } from 'chai'
import { EnvelopeError, type EnvelopeErrorCode, parseEvent, parseFullEnvelope } from '../index.ts'
import { bytesOf, fixturesIn, passes } from './support/documents.ts'

interface Written {
  description: string
  inputText?: string
  inputBase64?: string
  verdict: { full: boolean; received: boolean }
}

interface ValidFixture extends Written {
  variant: 'full' | 'reduced'
  envelope: Record<string, unknown>
}

interface InvalidFixture extends Written {
  check: 'full' | 'received'
  input?: unknown
  code: EnvelopeErrorCode
  problems: { pointer: string; hint?: string }[]
}

function bytesIn({ inputText, inputBase64 }: Omit<Written, 'description' | 'verdict'>, document: unknown): Uint8Array {
  if (inputBase64 !== undefined) return Buffer.from(inputBase64, 'base64')
  return inputText === undefined ? bytesOf(JSON.stringify(document)) : bytesOf(inputText)
}

/** Returns for each variant (full, received) true if its parser accepts the bytes. */
function verdictOf(bytes: Uint8Array): Written['verdict'] {
  return { full: passes(parseFullEnvelope, bytes), received: passes(parseEvent, bytes) }
}

function errorOf(parse: (bytes: Uint8Array) => unknown, bytes: Uint8Array): EnvelopeError {
  try {
    parse(bytes)
  } catch (error) {
    if (error instanceof EnvelopeError) return error
    throw error
  }
  throw new Error('expected an EnvelopeError')
}

/** Converts all texts to lower case before a comparison, because receivers convert GUIDs to lower case. */
const foldCase = (envelope: object) => JSON.parse(JSON.stringify(envelope).toLowerCase())

/** Removes the list of known events from a hint, so that the tests still pass after an event is added to the contract. */
const withoutList = (problem: { hint?: string }) =>
  problem.hint?.startsWith('known events:') ? { ...problem, hint: 'known events' } : problem

describe('valid fixtures', () => {
  for (const { file, description, variant, envelope, verdict, ...written } of fixturesIn<ValidFixture>('valid')) {
    it(`${file}: ${description}`, () => {
      const bytes = bytesIn(written, envelope)
      expect(verdictOf(bytes)).to.deep.equal(verdict)
      expect(foldCase(parseEvent(bytes))).to.deep.equal(foldCase(envelope))
      if (variant === 'full') expect(foldCase(parseFullEnvelope(bytes))).to.deep.equal(foldCase(envelope))
      else expect(errorOf(parseFullEnvelope, bytes).code).to.equal('not-an-envelope')
    })
  }
})

describe('invalid fixtures', () => {
  for (const fixture of fixturesIn<InvalidFixture>('invalid')) {
    it(`${fixture.file}: ${fixture.description}`, () => {
      const parse = fixture.check === 'full' ? parseFullEnvelope : parseEvent
      const bytes = bytesIn(fixture, fixture.input)
      expect(verdictOf(bytes)).to.deep.equal(fixture.verdict)
      const error = errorOf(parse, bytes)
      const found = error.problems.map(({ pointer, hint }) => (hint ? { pointer, hint } : { pointer }))
      expect(found.map(withoutList)).to.have.deep.members(fixture.problems.map(withoutList))
      expect(error.code).to.equal(fixture.code)
    })
  }
})
