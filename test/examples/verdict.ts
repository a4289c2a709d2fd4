import { EnvelopeError, parseEvent, parseFullEnvelope } from '@orderflow/envelope-schema'
import type { Question, Verdict } from './example.ts'

export function ownVerdict({ check, base64 }: Question): Verdict {
  const parse = check === 'full' ? parseFullEnvelope : parseEvent
  try {
    parse(Buffer.from(base64, 'base64'))
    return { code: 'ok', pointers: [] }
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error
    return { code: error.code, pointers: error.problems.map(({ pointer }) => pointer).sort() }
  }
}
