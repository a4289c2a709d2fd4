import { type Fixture, fixtureBytes, fixtures, type ValidFixture } from './fixtures.ts'

/** Creates a generator of random numbers (mulberry32). The same seed results in the same corpus on every machine. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const guid = '5f0c1d7a-2b3c-4d5e-8f90-a1b2c3d4e5f6'
const texts = [
  ...['', ' ', '\u200b', 'a', '\u0000', '\ud800', '\udc00\ud83d', '\u{1f600}', 'é', '\n', '\u0085', '\ufeff', '\u2028'],
  ...[guid, guid.toUpperCase(), `{${guid}}`, `${guid}\n`, ` ${guid}`, guid.replaceAll('-', ''), `urn:uuid:${guid}`],
  ...['00000000-0000-0000-0000-000000000000', 'OrderCreated', 'OrderCancelled', 'ordercreated', 'Manual', '__proto__'],
  ...[
    '2026-03-14T09:26:53Z',
    '2024-02-29T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-04-31T00:00:00+23:59',
    '2026-03-14',
  ],
  ...['0000-01-01T00:00:00Z', '2026-03-14T24:00:00Z', '2026-06-30T23:59:60Z', '2026-03-14T09:26:53', '1', '42.5'],
  ...[64, 65, 200, 201, 256, 257, 1000, 1001].flatMap((length) => ['x'.repeat(length), '\u{1f600}'.repeat(length)]),
]
const numbers = [0, -0, 1, 2, -1, 1.5, 1e12, 1000000000000.0001, 1e308, 2147483647, 2147483648, 5e-324, 1e21]
const others = [
  null,
  true,
  false,
  [],
  {},
  [[]],
  { a: { b: ['\u0000'] } },
  [{}],
  { OrderId: guid },
  { Name: 'OrderCreated' },
]
const values: unknown[] = [...texts, ...numbers, ...others]
const names = [
  ...['Headers', 'Id', 'CorrelationId', 'TraceId', 'AppId', 'AppName', 'Version', 'Name', 'CreationDate', 'Payload'],
  ...['TenantID', 'TenantUserID', 'OrderId', 'PaymentId', 'CustomerName', 'CustomerTaxId', 'Total', 'Amount', 'Policy'],
  ...[
    'Source',
    'Reason',
    'specversion',
    'Extra',
    '__proto__',
    'toString',
    'CreateDate',
    'a\u0000',
    'b\ud800',
    '',
    'a/b',
  ],
]
const snippets = [
  ...[
    '1e400',
    '-1e-400',
    '1.0',
    '1e0',
    '01',
    '+1',
    '.5',
    '1.',
    '0x1',
    'NaN',
    '-Infinity',
    'null',
    'tru',
    "'",
    '"',
    '\\',
  ],
  ...[',', ',,', ':', '{', '}', '[', ']', '//', '/**/', '\u0000', '\u0001', '\u00a0', '\ufeff', '\n', '\r\n\t '],
  ...['\\u0000', '\\ud800', '\\udc00', '\\ud83d\\ude00', '\\x41', '\\u12', '\\/', '\\u0022', '1000000000000.00000001'],
  ...['9'.repeat(400), `${'['.repeat(64)}${']'.repeat(64)}`, `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`, '"Total":"x",'],
]
const badBytes = [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x80]]

/** Generates almost valid documents: valid fixtures with up to three changes of values, names or the text. */
export function* corpus(seed: number, count: number): Generator<Buffer> {
  const random = randomOf(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const seeds = fixtures<ValidFixture & Fixture>('valid')
    .filter((fixture) => fixtureBytes(fixture).length < 2_000)
    .map(({ envelope }) => JSON.stringify(envelope))

  /** Adds an own property even for names such as `__proto__`. */
  const put = (place: object, key: string, value: unknown) =>
    Object.defineProperty(place, key, { value, enumerable: true, configurable: true, writable: true })

  function changeDocument(document: Record<string, unknown>): void {
    const inner = [document, document.Payload, document.Headers].filter((each) => each && typeof each === 'object')
    const place = pick(inner) as Record<string, unknown>
    const key = random() < 0.8 ? pick([...Object.keys(place), 'Extra']) : pick(names)
    const what = random()
    if (what < 0.03) document.Version = pick(numbers)
    else if (what < 0.2) delete place[key]
    // Copies no inherited value, because a later change of this value would affect all objects.
    else if (what < 0.3) put(place, pick(names), Object.hasOwn(place, key) ? place[key] : null)
    else put(place, key, structuredClone(pick(values)))
  }

  function changeText(text: string): string {
    const at = Math.floor(random() * (text.length + 1))
    const what = random()
    if (what < 0.4) return text.slice(0, at) + pick(snippets) + text.slice(at)
    if (what < 0.6) return text.slice(0, at) + text.slice(at + 1 + Math.floor(random() * 3))
    if (what < 0.8)
      return text.replace(/(?<=:)(-?[\d.]+|"[^"]*")/g, (found) => (random() < 0.15 ? pick(snippets) : found))
    return `{${text.slice(1, -1)},${JSON.stringify(pick(names))}:${JSON.stringify(pick(values)) ?? 'null'}}`
  }

  for (let made = 0; made < count; made += 1) {
    const document = JSON.parse(pick(seeds)) as Record<string, unknown>
    const changes = Math.floor(random() * 4)
    const isText = random() < 0.3
    if (!isText) for (let change = 0; change < changes; change += 1) changeDocument(document)
    let text = JSON.stringify(document)
    if (isText) for (let change = 0; change < changes; change += 1) text = changeText(text)
    const bytes = Buffer.from(text)
    if (random() >= 0.02) yield bytes
    else {
      const at = Math.floor(random() * bytes.length)
      yield Buffer.concat([bytes.subarray(0, at), Buffer.from(pick(badBytes)), bytes.subarray(at)])
    }
  }
}
