import { createHash } from 'node:crypto'

/** The ways in which a document is large. Each affects different code. */
export const shapes = ['wide', 'deep', 'long', 'repetitive'] as const
export type Shape = (typeof shapes)[number]

/** Creates JSON of about this size. */
type Variant = (bytes: number) => string

/** An envelope may have 64 levels, and the value is two levels deep. */
const maxLevels = 62

function items(bytes: number, make: (index: number) => string, separator = ','): string {
  const made: string[] = []
  for (let size = 0; ; ) {
    const item = make(made.length)
    size += Buffer.byteLength(item) + separator.length
    if (size > bytes && made.length > 0) return made.join(separator)
    made.push(item)
  }
}

const list = (bytes: number, make: (index: number) => string) => `[${items(bytes - 2, make)}]`
const members = (bytes: number, make: (index: number) => string) => `{${items(bytes - 2, make)}}`
const text = (bytes: number, make: (index: number) => string) => `"${items(bytes - 2, make, '')}"`

function guid(index: number): string {
  const hex = createHash('sha256').update(String(index)).digest('hex')
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Returns nested levels with a list of digits in the innermost level. */
function nested(bytes: number, open: string, close: string, levelsEach = 1): string {
  const count = Math.floor((maxLevels - 1) / levelsEach)
  const rest = bytes - count * (open.length + close.length)
  return `${open.repeat(count)}${list(rest, (index) => String(index % 10))}${close.repeat(count)}`
}

/** Returns nested levels with a list of digits in each level. */
function wideLevels(bytes: number, open: string, close: string): string {
  const count = maxLevels - 1
  const each = Math.max(4, Math.floor(bytes / count) - open.length - close.length)
  return `${open
    .replace(
      '*',
      list(each, (index) => String(index % 10)),
    )
    .repeat(count)}0${close.repeat(count)}`
}

/** Returns a tree of lists with two lists each and digits as leaves. */
function tree(bytes: number): string {
  return bytes < 16 ? '[1]' : `[${tree((bytes - 3) / 2)},${tree((bytes - 3) / 2)}]`
}

const person = '{"CustomerName":"Ada Lovelace","CustomerTaxId":"GB-42"}'

const variants: Record<Shape, Record<string, Variant>> = {
  wide: {
    'a list of the same digit': (bytes) => list(bytes, () => '1'),
    'a list of large numbers': (bytes) => list(bytes, (index) => String(100_000 + index)),
    'a list of words': (bytes) => list(bytes, (index) => `"w${index}"`),
    'a list of empty objects': (bytes) => list(bytes, () => '{}'),
    'a list of empty lists': (bytes) => list(bytes, () => '[]'),
    'an object of many numbers': (bytes) => members(bytes, (index) => `"k${index}":${index}`),
    'an object of many texts': (bytes) => members(bytes, (index) => `"k${index}":"v${index}"`),
    'an object of names that are nearly personal': (bytes) =>
      members(bytes, (index) => `"Custmer Name ${index}":"Ada"`),
    'an object of long names': (bytes) => members(bytes, (index) => `"${index}${'n'.repeat(10_000)}":1`),
    'an object of indexes': (bytes) => members(bytes, (index) => `"${index}":${index % 256}`),
  },
  deep: {
    'lists within lists': (bytes) => nested(bytes, '[', ']'),
    'objects within objects': (bytes) => nested(bytes, '{"d":', '}'),
    'lists and objects in turn': (bytes) => nested(bytes, '[{"d":', '}]', 2),
    'lists that are wide at each level': (bytes) => wideLevels(bytes, '[*,', ']'),
    'objects that are wide at each level': (bytes) => wideLevels(bytes, '{"w":*,"d":', '}'),
    'a tree of lists': tree,
  },
  long: {
    'one word': (bytes) => text(bytes, () => 'x'),
    'words of which each is another': (bytes) => text(bytes, (index) => `w${index} `),
    'words of two letters': (bytes) => text(bytes, (index) => `${'abcdefg'.charAt(index % 7)}x `),
    GUIDs: (bytes) => text(bytes, (index) => `${guid(index % 100)} `),
    'GUIDs without a space between': (bytes) => text(bytes, (index) => guid(index % 100)),
    'what is nearly a GUID': (bytes) => text(bytes, (index) => `${guid(index % 100).slice(0, 23)}-`),
    digits: (bytes) => text(bytes, (index) => String(index % 10)),
    'e-mail addresses': (bytes) => text(bytes, (index) => `user${index}@shop.example,`),
    'tax ids': (bytes) => text(bytes, (index) => `GB-${index} `),
    'letters as escapes': (bytes) => text(bytes, () => '\\u0041'),
    'quotes and backslashes': (bytes) => text(bytes, (index) => ['\\\\', '\\"', '\\n', '\\u0001'][index % 4] as string),
    'escapes of URLs': (bytes) => text(bytes, (index) => `%${(0x20 + (index % 90)).toString(16)}`),
    'other alphabets': (bytes) =>
      text(bytes, (index) => ['漢', '😀', 'e\u0301', 'İ', 'ß', '\u202e'][index % 6] as string),
    punctuation: (bytes) => text(bytes, (index) => "-:=[{('.,;&".charAt(index % 11)),
    'names and values': (bytes) => text(bytes, (index) => `CustomerName=${index} password: [`),
    'JSON in a text': (bytes) => text(bytes, () => `${JSON.stringify(person).slice(1, -1)}, `),
  },
  repetitive: {
    'the same member again and again': (bytes) => members(bytes, () => '"k":"v"'),
    'the same personal member again and again': (bytes) => members(bytes, () => person.slice(1, -1)),
    'a list of the same object': (bytes) => list(bytes, () => person),
    'a list of the same word': (bytes) => list(bytes, () => '"Lovelace"'),
    'a list of the same GUID': (bytes) => list(bytes, () => `"${guid(0)}"`),
    'the same word in a text': (bytes) => text(bytes, () => 'Lovelace '),
    'the same value under many names': (bytes) => members(bytes, (index) => `"k${index}":"Ada Lovelace"`),
  },
}

export const variantsOf: Readonly<Record<Shape, string[]>> = {
  wide: Object.keys(variants.wide),
  deep: Object.keys(variants.deep),
  long: Object.keys(variants.long),
  repetitive: Object.keys(variants.repetitive),
}

export function largeValue(shape: Shape, variant: string, bytes: number): string {
  const make = variants[shape][variant]
  if (!make) throw new Error(`the shape ${shape} has no variant ${variant}`)
  return make(bytes)
}
