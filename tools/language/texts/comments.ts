import { type Kind, type Text, TextBuilder } from './text.ts'

/** Comments that tools read. */
const directives =
  /^\s*(?:@ts-|eslint|c8 |v8 |prettier|shellcheck |hadolint |yaml-language-server|syntax=|#region|#endregion|renovate:|nosemgrep|go:|!|v?[\d.]+\s*$|[-=#~]+\s*$)/

/** The position of consecutive lines of a comment. */
interface Lines {
  start: number
  end: number
  /** Matches the characters before the text of each line. */
  prefix: RegExp
}

/** Returns the texts of a block comment. The positions exclude its marks. Lines may begin with an asterisk. */
export function textsOfBlock(source: string, start: number, end: number): Text[] {
  const isDoc = source[start] === '*'
  return textsOfLines(source, { start, end, prefix: /^\s*\(?\*+ ?|^\s+/ }, isDoc ? 'doc comment' : 'comment')
}

/** Returns the texts of lines that begin with a mark such as `//`, even after spaces. */
export function textsOfLineComments(source: string, start: number, end: number, mark: string): Text[] {
  const escaped = mark.replace(/[\\*]/g, '\\$&')
  return textsOfLines(source, { start, end, prefix: new RegExp(`^\\s*${escaped}+ ?`) }, 'comment')
}

function textsOfLines(source: string, { start, end, prefix }: Lines, kind: Kind): Text[] {
  const texts: Text[][] = []
  let builder = new TextBuilder(source)
  let isTag = false
  let isCode = false
  const finish = () => {
    // The text of a tag such as @returns continues the signature, so it need not be a sentence.
    texts.push(builder.build(isTag ? 'comment' : kind))
    builder = new TextBuilder(source)
  }
  let at = start
  for (const line of source.slice(start, end).split('\n')) {
    const before = line.match(prefix)?.[0].length ?? 0
    const from = at + before
    const to = at + line.replace(/ *\*\)$/, '').length
    at += line.length + 1
    const text = source.slice(from, to)
    const tag = text.match(
      /^\s*@(\w+)(?:\s+\{[^}]*\})?(?:(?<=@(?:param|typeParam|template|property)\b.*)\s+\[?[\w.]+\]?)?/,
    )
    if (tag) {
      finish()
      isTag = true
      isCode = tag[1] === 'example' || tag[1] === 'openapi'
    }
    if (/^\s*```/.test(text)) isCode = !isCode
    else if (directives.test(text)) finish()
    else if (!isCode) keepProse(builder, source, from + (tag?.[0].length ?? 0) + ignoredReason(text), to)
  }
  finish()
  // Only the first paragraph introduces the name below it.
  return texts
    .flat()
    .map((each, index) => (index > 0 && each.kind === 'doc comment' ? { ...each, kind: 'comment' } : each))
}

/** Returns the length of the text before the reason in `biome-ignore lint/…: the reason`. */
function ignoredReason(text: string): number {
  return text.match(/^\s*biome-ignore(?:-\w+)? [^:]*:/)?.[0].length ?? 0
}

/** Adds characters of a comment or document, with a stand-in for each code span and address. */
export function keepProse(builder: TextBuilder, source: string, start: number, end: number): void {
  builder.keep(start, end)
  const text = source.slice(start, end)
  for (const { index, 0: found } of text.matchAll(/(`+)(?!`).*?[^`]\1(?!`)|\{@\w+ [^}]*\}|https?:\/\/[^\s)>\]]+/gs)) {
    builder.replace(start + index, start + index + found.length)
  }
}
