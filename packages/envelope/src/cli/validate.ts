import { isAscii, isUtf8 } from 'node:buffer'
import { isPlain } from '../envelope/parse.ts'
import { type Mode, modes, type Verdict, validateBytes, validateText } from '../envelope/verdict.ts'
import type { Problem } from '../validation/problems.ts'
import { type Io, readDocuments, requireFiles, UnreadableError, write } from './io.ts'
import { verdictJson, verdictLines } from './report.ts'
import { oneOf, readOptions } from './usage.ts'

export const help = `Usage: envelope validate [--mode publisher|receiver] [--json] FILE...

List the problems of each envelope in each FILE; - is standard input. A file has one envelope on one or more lines,
a list of envelopes, or JSON lines. Memory stays constant only for JSON lines.

  --mode receiver    accept all envelopes that receivers accept, also reduced ones (default)
  --mode publisher   accept only the full variant
  --json             print [{"source", "valid", "variant", "errors": [{"pointer", "message", "hint"}]}]

Exit codes: 0 if all envelopes are valid, 1 if some are invalid, 2 for wrong arguments or an unreadable file.
`

interface Count {
  full: number
  reduced: number
  invalid: number
}

export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = readOptions(args, {
    mode: { type: 'string', default: 'receiver' },
    json: { type: 'boolean', default: false },
  })
  const mode = oneOf('--mode', values.mode, modes)
  const files = requireFiles(positionals)
  const describe = values.json ? listOf(verdictJson) : verdictLines
  let code = 0
  if (values.json) await write(io.stdout, '[')
  for (const file of files) {
    const count = { full: 0, reduced: 0, invalid: 0 }
    try {
      await validateFile(file, io, mode, describe, count)
      if (count.invalid > 0) code = Math.max(code, 1)
      if (!values.json) await write(io.stderr, summaryOf(file, count))
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error
      await write(io.stderr, `${error.message}\n`)
      code = 2
    }
  }
  if (values.json) await write(io.stdout, '\n]\n')
  return code
}

type Describe = (file: string, line: number, verdict: Verdict) => string

async function validateFile(file: string, io: Io, mode: Mode, describe: Describe, count: Count): Promise<void> {
  let text = ''
  function tell(verdict: Verdict, line: number) {
    count[verdict.valid && verdict.variant ? verdict.variant : 'invalid']++
    text += describe(file, line, verdict)
  }
  const onDocument = (bytes: Uint8Array, line: number) => tell(validateBytes(bytes, mode), line)
  /** Validates whole lines. A line with an object in UTF-8 is validated as text, any other line as bytes. */
  function onLines(bytes: Uint8Array, firstLine: number): number {
    const read = textOf(bytes)
    if (read === undefined) return 0
    const escapesNothing = isPlain(bytes)
    let line = firstLine
    for (let from = 0; from < read.length; line++) {
      const to = read.indexOf('\n', from)
      const document = read.slice(from, to)
      if (document.startsWith('{')) tell(validateText(document, mode, escapesNothing), line)
      else if (/[^ \t\r]/.test(document)) onDocument(Buffer.from(document), line)
      from = to + 1
    }
    return line - firstLine
  }
  const onFlaw = (flaw: Problem, line: number) =>
    tell({ valid: false, variant: null, errors: [flaw], warnings: [] }, line)
  await readDocuments(file, io, { onDocument, onLines, onFlaw }, async () => {
    const told = text
    text = ''
    await write(io.stdout, told)
  })
}

/** Returns the bytes as a text, or undefined if they are not UTF-8. ASCII is decoded as Latin-1, which is faster. */
function textOf(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (isAscii(buffer)) return buffer.toString('latin1')
  return isUtf8(buffer) ? buffer.toString() : undefined
}

function listOf(describe: Describe): Describe {
  let separator = '\n'
  return (...described) => {
    const item = `${separator}${describe(...described)}`
    separator = ',\n'
    return item
  }
}

function summaryOf(file: string, { full, reduced, invalid }: Count): string {
  const kinds = Object.entries({ full, reduced }).filter(([, count]) => count > 0)
  const valid = `${full + reduced} valid${kinds.length > 0 ? ` (${kinds.map((kind) => kind.reverse().join(' ')).join(', ')})` : ''}`
  return `${file}: ${valid}, ${invalid} invalid\n`
}
