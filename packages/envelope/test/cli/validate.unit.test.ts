import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { run as validate } from '../../src/cli/validate.ts'
import { createEnvelope, validateBytes } from '../../src/index.ts'
import { anyText } from '../support/any-text.ts'
import { app, bytesOf, orderCreated, reduced } from '../support/documents.ts'
import { run, usageError } from './run.ts'

const full = createEnvelope({ app, type: 'OrderCreated@1', payload: orderCreated, creationDate: new Date(0) })
const line = (document: unknown) => `${JSON.stringify(document)}\n`
const ofInput = (input: (string | Uint8Array)[], ...options: string[]) => run(validate, [...options, '-'], { input })

describe('envelope validate', () => {
  it('accepts a full and a reduced envelope, and counts both', async () => {
    const expected = { code: 0, out: '', error: '-: 2 valid (1 full, 1 reduced), 0 invalid\n' }
    expect(await ofInput([line(full), line(reduced())])).to.deep.equal(expected)
    expect(await ofInput([line([full, reduced()])])).to.deep.equal(expected)
    expect((await ofInput([JSON.stringify(full, null, 2)])).code).to.equal(0)
  })

  it('rejects a reduced envelope in mode publisher, and prints a line for each problem', async () => {
    const { code, out, error } = await ofInput([line(full), line(reduced())], '--mode', 'publisher')
    expect(out).to.equal('-:2: /Id is missing\n-:2: /CorrelationId is missing\n-:2: /TraceId is missing\n')
    expect({ code, error }).to.deep.equal({ code: 1, error: '-: 1 valid (1 full), 1 invalid\n' })
  })

  it('prints a hint for known mistakes, and a warning for an unknown Name', async () => {
    const { CreationDate: _, ...wrong } = reduced({ CreateDate: 'x', Payload: { ...orderCreated, Total: '12' } })
    const { out } = await ofInput([line(wrong)])
    expect(out).to.equal(
      '-:1: /CreationDate is missing; rename CreateDate to CreationDate\n' +
        '-:1: /Payload/Total must be a number, not a string; send it without quotes: 12.5, not "12.5"\n',
    )
    const foreign = await ofInput([line(reduced({ Name: 'ParcelSent' }))])
    expect(foreign.code).to.equal(0)
    expect(foreign.out).to.match(
      /^-:1: warning: \/Name is not a known event, so the Payload was not checked; known events: /,
    )
  })

  it('reports the same for each line, however many lines are read at once', async () => {
    const lines: (string | Buffer)[] = [
      line(full),
      '\n',
      line(reduced()).replace('\n', '\r\n'),
      `\ufeff${line(full)}`,
      ' \t\n',
      '{"a":1\n',
      '[]\n',
      'null\n',
      ` ${line(full)}`,
      line(full).replace('Name', '\\u004eame'),
      line({ ...full, AppName: '\0' }),
      line({ ...full, AppName: 'é\u2028' }),
    ]
    const bad = Buffer.from([0x7b, 0xff, 0x7d, 0x0a])
    for (const all of [lines, [...lines, bad, ...lines]]) {
      const bytes = Buffer.concat(all.map((each) => Buffer.from(each)))
      const [atOnce, inPieces] = await Promise.all([
        run(validate, ['--json', '-'], { input: [bytes] }),
        run(validate, ['--json', '-'], { input: Array.from(bytes, (byte) => Uint8Array.of(byte)) }),
      ])
      expect(JSON.parse(atOnce.out)).to.deep.equal(JSON.parse(inPieces.out))
      expect(JSON.parse(atOnce.out)).to.have.length(all.filter((each) => String(each).trim() !== '').length)
    }
  })

  it('prints one JSON list for all files', async () => {
    const { code, out, error } = await ofInput(
      [line(full), line(reduced({ Version: 99 })), line({ a: 1 })],
      '--json',
      '--mode',
      'publisher',
    )
    const [first, second, third] = JSON.parse(out)
    expect({ code, error }).to.deep.equal({ code: 1, error: '' })
    expect(first).to.deep.equal({ source: '-:1', valid: true, variant: 'full', errors: [] })
    expect(second).to.include({ source: '-:2', valid: false, variant: 'reduced' })
    expect(second.errors.at(-1)).to.include({ pointer: '/Version', message: 'is not a known version' })
    expect(second.errors.at(-1).hint).to.match(/^known versions of OrderCreated: 1/)
    expect(third).to.include({ valid: false, variant: null })
    expect(
      JSON.parse((await ofInput([line(reduced({ Name: 'ParcelSent' }))], '--json')).out)[0].warnings,
    ).to.have.length(1)
  })

  it('reports each file by name, and continues after an unreadable one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'envelope '))
    const [good, bad] = ['good', 'bad'].map((name) => join(folder, name)) as [string, string]
    writeFileSync(good, line(full))
    writeFileSync(bad, 'null\n')
    try {
      const { code, out, error } = await run(validate, [good, folder, join(folder, 'nowhere'), bad])
      expect(code).to.equal(2)
      expect(out).to.equal(`${bad}:1: the document is null; a null value is a tombstone, not an event\n`)
      expect(error.split('\n')).to.deep.equal([
        `${good}: 1 valid (1 full), 0 invalid`,
        `${folder}: cannot be read (EISDIR)`,
        `${join(folder, 'nowhere')}: cannot be read (ENOENT)`,
        `${bad}: 0 valid, 1 invalid`,
        '',
      ])
      expect(JSON.parse((await run(validate, ['--json', good, join(folder, 'nowhere')])).out)).to.have.length(1)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('reports text that is not JSON or UTF-8, nests too deep or is empty', async () => {
    const text = JSON.stringify(full)
    const cases: [string | Uint8Array, RegExp][] = [
      ['', /is empty; give at least one envelope/],
      [Buffer.from(text.replace('Ada', 'Ad\u00e4'), 'latin1'), /is not UTF-8 text; encode the JSON text as UTF-8/],
      [Buffer.from(`\uFEFF${text}`, 'utf16le'), /is not UTF-8 text/],
      [text.replace('Ada', 'A\0da'), /is not JSON: see position/],
      [text.replace('Ada', 'A\\u0000da'), /\/Payload\/CustomerName has U\+0000 or a lone surrogate/],
      [text.replace('{', `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)},`), /nests deeper than 64 levels/],
      ['['.repeat(200_000), /is not JSON: the text ends too early/],
      [`{"a":"${'x'.repeat(10 * 2 ** 20)}"}`, /is larger than 1 MiB/],
    ]
    for (const [input, message] of cases) {
      const { code, out } = await ofInput([input])
      expect(code).to.equal(1)
      expect(out)
        .to.match(message)
        .and.to.match(/^-:1: /)
    }
  })

  it('uses the last of duplicate keys, as receivers do, and drops a byte order mark', async () => {
    const wrongFirst = JSON.stringify(full).replace('{', '{"Version":"1",')
    expect((await ofInput([`\uFEFF${wrongFirst}`])).code).to.equal(0)
    const wrongLast = JSON.stringify(full).replace(/}$/, ',"Version":"1"}')
    expect((await ofInput([wrongLast])).out).to.match(/^-:1: \/Version must be a whole number/)
  })

  it('gives the same verdict as a service for every form of a document', async () => {
    const unicode = reduced({ AppName: 'Ünï \u{1f600}', Headers: { ключ: '値' } })
    for (const document of [
      full,
      unicode,
      reduced(),
      reduced({ Payload: { ...orderCreated, OrderId: 7, Total: -1 } }),
    ]) {
      const { valid, variant, errors } = validateBytes(bytesOf(document), 'receiver')
      for (const form of [line(document), JSON.stringify(document, null, 2), line([document])]) {
        const bytes = Buffer.from(form)
        const chunks = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
          bytes.subarray(7 * index, 7 * index + 7),
        )
        const [found] = JSON.parse((await ofInput(chunks, '--json')).out)
        expect(found).to.deep.include({ valid, variant, errors })
      }
    }
  })

  it('never prints a value of an invalid document', async () => {
    // Messages themselves never contain these characters, so a match comes from the document.
    const secret = fc.string({ unit: fc.constantFrom('ß', 'ð', 'ŋ', 'ħ'), minLength: 3, maxLength: 12 })
    const value = fc.oneof(
      secret,
      secret.map((text) => [text]),
      secret.map((text) => ({ [text]: text })),
    )
    const fields = ['Id', 'AppName', 'Name', 'Version', 'CreationDate', 'Payload', 'TenantUserID', 'Headers']
    const broken = fc.constantFrom('', '"', '}', ',', '\\u12')
    await fc.assert(
      fc.asyncProperty(value, fc.constantFrom(...fields), broken, anyText(), async (text, field, end, other) => {
        const document = JSON.stringify(reduced({ [field]: text, Headers: { Note: other } }))
        const { out, error } = await ofInput([document.slice(0, document.length - end.length) + end])
        expect(out + error).not.to.match(/[ßðŋħ]/)
      }),
      { numRuns: 300 },
    )
  })

  it('suggests the closest known word for an unknown option or value', async () => {
    expect(await usageError(run(validate, ['--jsno', '-']))).to.equal('unknown option --jsno (did you mean --json?)')
    expect(await usageError(run(validate, ['--mode', 'reciever', '-']))).to.equal(
      '--mode must be one of publisher, receiver (did you mean receiver?)',
    )
    expect(await usageError(run(validate, ['--mode']))).to.match(/--mode/)
    expect(await usageError(run(validate, []))).to.equal('no file: name at least one, or - for standard input')
  })
})
