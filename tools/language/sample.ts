/**
 * Prints 100 random texts for judges, 20 of each group. A test title is printed with its suites, a table cell with its row,
 * and a part of a doc comment with its tag.
 * The seed is fixed, so each run on a commit draws the same texts.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { subjectsSince } from './subjects.ts'
import { filesWithTexts, repository, textsOf } from './texts/files.ts'
import { lineOf, plain, shown } from './texts/plain.ts'
import type { Kind, Text } from './texts/text.ts'

const seed = 20261125
const size = 20
/** A text of one or two words is easy to read, so it is not drawn. */
const fewestWords = 3

const groups: Record<string, Kind[]> = {
  docs: ['prose', 'heading'],
  comments: ['doc comment', 'comment'],
  'test titles': ['test title', 'suite title'],
  'UI and CLI texts': ['UI text', 'API description', 'message', 'help', 'schema'],
}

const texts = filesWithTexts().flatMap((file) => {
  const source = readFileSync(join(repository, file), 'utf8')
  const all = textsOf(file, source)
  return all
    .filter(({ value }) => plain(value).text.split(' ').length >= fewestWords)
    .map((text) => ({
      kind: text.kind,
      line: `${file}:${lineOf(source, text.start)}: ${shown(text, source)}${contextOf(text, all, source)}`,
    }))
})

const random = createRandom(seed)
const drawn = Object.entries(groups).map(([name, kinds]) => {
  const lines = texts.filter(({ kind }) => kinds.includes(kind)).map(({ line }) => line)
  return [name, draw(lines)] as const
})
let number = 0
for (const [name, lines] of [...drawn, ['commit subjects', draw(subjectsSince() ?? [])] as const]) {
  console.log(`\n## ${name}\n`)
  for (const line of lines) console.log(`${++number}. ${line}`)
}

function contextOf(text: Text, all: Text[], source: string): string {
  const line = lineWith(text, source)
  if (text.kind === 'prose' && line.startsWith('|')) return `\n   (row: ${line})`
  const tag = text.kind.endsWith('comment') ? line.match(/@\w+(?: \{.*?\}| \S+)?/)?.[0] : undefined
  if (tag) return `\n   (tag: ${tag})`
  if (text.kind !== 'test title') return ''
  const suites: Text[] = []
  for (const each of all.filter(({ kind, start }) => kind === 'suite title' && start < text.start).reverse()) {
    if (indentOf(each, source) < indentOf(suites[0] ?? text, source)) suites.unshift(each)
  }
  return suites.length > 0 ? `\n   (suite: ${suites.map((suite) => shown(suite, source)).join(' > ')})` : ''
}

function lineWith({ start }: Text, source: string): string {
  return source.split('\n')[lineOf(source, start) - 1] as string
}

function indentOf(text: Text, source: string): number {
  return lineWith(text, source).search(/\S/)
}

function draw(lines: string[]): string[] {
  const left = [...lines]
  return Array.from(
    { length: Math.min(size, left.length) },
    () => left.splice(Math.floor(random() * left.length), 1)[0] as string,
  )
}

/** Returns a generator of numbers from 0 to below 1 (mulberry32). */
function createRandom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
