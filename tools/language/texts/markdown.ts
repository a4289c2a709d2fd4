import { keepProse } from './comments.ts'
import { type Kind, type Text, TextBuilder } from './text.ts'

/** Returns the prose of a Markdown document: headings, paragraphs, items of lists and cells of tables, without code and addresses. */
export function textsOfMarkdown(source: string): Text[] {
  const texts: Text[][] = []
  let paragraph: { start: number; end: number } | undefined
  const finish = () => {
    if (paragraph) texts.push(proseOf(source, paragraph.start, paragraph.end, 'prose'))
    paragraph = undefined
  }
  for (const { start, line } of linesOutsideFences(source)) {
    const end = start + line.length
    const heading = line.match(/^#{1,6} /)?.[0].length
    const item = line.match(/^\s*(?:[-*+]|\d+\.) /)?.[0].length
    if (line.trim() === '' || heading || item || line.startsWith('|')) finish()
    if (heading) texts.push(proseOf(source, start + heading, end, 'heading'))
    else if (line.startsWith('|')) texts.push(cellsOf(source, start, line))
    else if (line.trim() !== '') paragraph = { start: paragraph?.start ?? start + (item ?? 0), end }
  }
  finish()
  return texts.flat()
}

/** Returns the lines with their index. Fenced code, comments and front matter become empty lines. */
function linesOutsideFences(source: string): { start: number; line: string }[] {
  const withoutComments = source
    .replace(/<!--.*?-->/gs, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/^---\n.*?\n---\n/s, (matter) => matter.replace(/[^\n]/g, ' '))
  let start = 0
  let fence: string | undefined
  return withoutComments.split('\n').map((line) => {
    const at = start
    start += line.length + 1
    const mark = line.match(/^\s*(?:> ?)*(```+|~~~+)/)?.[1]
    const isCode = fence !== undefined || mark !== undefined
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence)) fence = undefined
    return { start: at, line: isCode ? '' : line }
  })
}

function cellsOf(source: string, start: number, line: string): Text[] {
  const bars = [...line.matchAll(/(?<!\\)\|/g)].map(({ index }) => index)
  return bars.flatMap((bar, at) => proseOf(source, start + bar + 1, start + (bars[at + 1] ?? line.length), 'prose'))
}

function proseOf(source: string, start: number, end: number, kind: Kind): Text[] {
  const builder = new TextBuilder(source)
  keepProse(builder, source, start, end)
  const text = source.slice(start, end)
  const drop = (pattern: RegExp) => {
    for (const { index, 0: found } of text.matchAll(pattern)) {
      if (!isInCode(text, index)) builder.drop(start + index, start + index + found.length)
    }
  }
  drop(/!?\[(?=[^\]]*\]\()|\]\([^)\s]*(?: "[^"]*")?\)|\]\[[^\]]*\]/g)
  drop(/<\/?[a-z][^>]*>/gi)
  drop(/^ *>+ ?/gm)
  drop(/\*\*|__(?=\S)|(?<=\S)__|(?<!\w)[_*](?=\S)|(?<=\S)[_*](?!\w)/g)
  return builder.build(kind)
}

/** Returns true if an odd number of backticks precedes the index. */
function isInCode(text: string, index: number): boolean {
  return (text.slice(0, index).match(/`/g)?.length ?? 0) % 2 === 1
}
