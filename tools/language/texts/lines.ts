import { textsOfBlock, textsOfLineComments } from './comments.ts'
import { type Text, TextBuilder } from './text.ts'

/** Maps file names to the mark of comments that end with their line. */
const marks: [RegExp, string][] = [
  [/(^|\/)(?:Makefile|Dockerfile|CODEOWNERS|\.\w+ignore|\.env\.example|\.editorconfig|\.npmrc)$/, '#'],
  [/\.(?:ya?ml|sh|py|toml|properties|txt)$/, '#'],
  [/\.(?:go|java|grit|mod|json5|css)$/, '//'],
  [/\.sql$/, '--'],
  [/\.(?:cfg|tla)$/, '\\*'],
]

/** Comments and doc strings that may have several lines. */
const blocks: [RegExp, RegExp][] = [
  [/\.(?:go|java|css)$/, /^\s*\/\*(?<text>.*?)\*\//dgms],
  [/\.py$/, /^\s*"""(?<text>.*?)"""/dgms],
  [/\.tla$/, /(?<text>(?:^ *\(\*.*\*\)\n)+)/dgm],
]

/** Returns the mark of line comments of a file, or undefined for a file of another kind. */
export function lineCommentMark(file: string, source: string): string | undefined {
  return marks.find(([pattern]) => pattern.test(file))?.[1] ?? (/^#!.*\b(?:ba)?sh\b/.test(source) ? '#' : undefined)
}

/** Returns the comments and messages in scripts, settings and programs of languages that are read line by line, without a parser. */
export function textsOfLines(file: string, source: string, mark: string): Text[] {
  const texts: Text[][] = []
  let block: { start: number; end: number } | undefined
  const finish = () => {
    if (block) texts.push(textsOfLineComments(source, block.start, block.end, mark))
    block = undefined
  }
  let start = 0
  for (const line of source.split('\n')) {
    const end = start + line.length
    if (line.trimStart().startsWith(mark) && !/^#!|^\s*##@/.test(line)) block = { start: block?.start ?? start, end }
    else {
      finish()
      texts.push(trailingComment(source, start, line, mark), shownTexts(file, source, start, line))
    }
    start = end + 1
  }
  finish()
  texts.push(blocksIn(file, source))
  return texts.flat().sort((one, other) => one.start - other.start)
}

function trailingComment(source: string, start: number, line: string, mark: string): Text[] {
  const at = line.search(new RegExp(`\\s${mark.replace(/[\\*]/g, '\\$&')} `))
  // If the mark follows an odd number of quotes, it is part of a string.
  if (at < 0 || /^[^'"]*(['"])(?:(?!\1).)*$/.test(line.slice(0, at))) return []
  return textsOfLineComments(source, start + at, start + line.length, mark)
}

function shownTexts(file: string, source: string, start: number, line: string): Text[] {
  const found = (pattern: RegExp, kind: 'help' | 'message'): Text[] => {
    const match = line.match(pattern)?.indices?.groups?.text
    return match ? new TextBuilder(source).keep(start + match[0], start + match[1]).build(kind) : []
  }
  if (/Makefile$/.test(file)) return found(/^(?:##@ |[^\s:]+(?: [^:]*)?:.* ## )(?<text>.*)/d, 'help')
  if (/\.ya?ml$/.test(file))
    return found(/^\s*(?:summary|description): (?<quote>['"]?)(?<text>[^'">|].*?)\k<quote>$/d, 'message')
  return found(/^\s*(?:echo|fail|printf) (?<quote>['"])(?<text>.*? .*?)\k<quote>/d, 'message')
}

function blocksIn(file: string, source: string): Text[] {
  const pattern = blocks.find(([name]) => name.test(file))?.[1]
  return [...(pattern ? source.matchAll(pattern) : [])].flatMap(({ indices }) => {
    const [start, end] = indices?.groups?.text ?? [0, 0]
    return textsOfBlock(source, start, end)
  })
}
