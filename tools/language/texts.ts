import { parseSync, Visitor } from 'oxc-parser'

export const kinds = ['doc comment', 'test title', 'string', 'prose'] as const

/** A text for readers, in one line. An X replaces each piece of code. */
export interface Text {
  /** The later paragraphs and tags of a doc comment are prose, as all other comments. */
  kind: (typeof kinds)[number]
  /** The line, from 1, where the text begins. */
  line: number
  text: string
}

const withLineComments =
  /(?:^|\/)(?:Makefile|Dockerfile|CODEOWNERS|\.\w+ignore|\.env\.example|\.npmrc)$|\.(?:ya?ml|sh|py|toml|properties|go|java|grit|mod|css|sql|cfg|tla)$/

/**
 * Returns the texts of a file. The file's name decides how it is read, and a file of an unknown kind has no texts.
 * @throws {Error} for TypeScript that cannot be parsed
 */
export function textsOf(file: string, source: string): Text[] {
  if (/\.(?:tsx?|m?js)$/.test(file)) return textsOfCode(file, source)
  if (file.endsWith('.md')) return textsOfMarkdown(source.replace(/^---\n.*?\n---\n/s, blank))
  if (file.endsWith('.json')) return textsOfSchema(source)
  return withLineComments.test(file) || /^#!.*\b(?:ba)?sh\b/.test(source) ? textsOfLines(source) : []
}

/** Returns comments, titles of tests and suites, the text of JSX and, outside tests, strings that are sentences. */
function textsOfCode(file: string, source: string): Text[] {
  const { program, comments, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  const texts = [textsOfComments(source, comments)]
  const isTest = /(?:^|\/)test\/|\.test\.tsx?$/.test(file)
  const add = (start: number, text: string, kind: Text['kind']) => {
    if (kind !== 'string' || isSentence(text)) texts.push(textsOfMarkdown(text, lineOf(source, start), kind))
  }
  new Visitor({
    CallExpression({ callee, arguments: [title] }) {
      const [, name] = source.slice(callee.start, callee.end).match(/^(it|describe|suite)(?:\.(?:only|skip))?$/) ?? []
      const kind = name === 'it' ? 'test title' : 'prose'
      if (name && title?.type === 'Literal') add(title.start, String(title.value), kind)
      if (name && title?.type === 'TemplateLiteral') add(title.start, textOfTemplate(title.quasis), kind)
    },
    Literal({ start, end, value }) {
      const isKey = source[end] === ':'
      if (!isTest && !isKey && typeof value === 'string') add(start, value, 'string')
    },
    TemplateLiteral({ start, quasis }) {
      if (!isTest) add(start, textOfTemplate(quasis), 'string')
    },
    JSXText: ({ start, value }) => add(start, value, 'prose'),
  }).visit(program)
  return texts.flat()
}

/** Returns the texts of comments. Consecutive line comments are one text. */
function textsOfComments(source: string, comments: { type: string; start: number; end: number; value: string }[]) {
  const merged: { line: number; value: string; end: number }[] = []
  for (const { type, start, end, value } of comments) {
    const last = merged.at(-1)
    if (last && type === 'Line' && /^\n[ \t]*$/.test(source.slice(last.end, start))) {
      last.value += `\n${value}`
      last.end = end
    } else merged.push({ line: lineOf(source, start), value, end })
  }
  return merged.flatMap(({ line, value }) =>
    value.startsWith('*')
      ? textsOfMarkdown(value.replace(/^[ \t]*\*+ ?/gm, ''), line, 'doc comment')
      : textsOfMarkdown(value, line),
  )
}

function textOfTemplate(quasis: { value: { cooked: string | null } }[]): string {
  return quasis.map(({ value }) => value.cooked).join('X')
}

/** Returns true for a string with three words in a row. Signs of code, and a first word of capitals as in SQL, make it false. */
function isSentence(text: string): boolean {
  return /\p{L}\p{Ll} \p{L}+,? \p{L}/u.test(text) && !/[{}<>;=]|^\s*\p{Lu}{3,} /u.test(text)
}

/** Returns the titles and descriptions in a JSON Schema. */
function textsOfSchema(source: string): Text[] {
  const found = source.matchAll(/"(?:title|description|\$comment)"\s*:\s*"(?<text>(?:[^"\\]|\\.)*)"/g)
  return [...found].flatMap(({ index, groups }) => textsOfMarkdown(groups?.text ?? '', lineOf(source, index)))
}

const lineComment = /^\s*(?:#+|\/\/|--|\/?\*+|\(\*|\\\*) (?<text>.*?)(?: \*[)/])?$/
const help = /^(?:##@ |[^\s:]+:.* ## |\s*(?:summary|description): )(?<text>.*)/

/** Returns the comments of scripts and settings, the help of Makefiles, and the texts of alerts. */
function textsOfLines(source: string): Text[] {
  const lines = source.split('\n').map((line) => {
    const text = line.match(help)?.groups?.text
    return text ? `- ${text}` : (line.match(lineComment)?.groups?.text ?? '')
  })
  return textsOfMarkdown(lines.join('\n'))
}

/** Matches the mark of a heading, quote, item or doc comment's tag, and the position before a row of columns. */
const opening =
  /^\s*(?:#+ |> ?|(?:[-*+•]|\d+\.) (?:\[[ x]\] )?|@(?:param|typeParam|property) (?:\{[^}]*\} )?\S+|@\w+(?: \{[^}]*\})?)|^(?=.*\S {2,}\S)/

/** Returns the paragraphs, items, headings and cells of Markdown, without code and addresses. Only strings and the first paragraph are of the given kind. */
function textsOfMarkdown(markdown: string, firstLine = 1, kind: Text['kind'] = 'prose'): Text[] {
  const texts: Text[] = []
  let open: Text | undefined
  for (const [index, line] of withoutMarks(markdown).split('\n').entries()) {
    const mark = line.match(opening)?.[0]
    const cells = /^\s*\|/.test(line) ? line.split('|') : undefined
    const text = line.slice(mark?.length ?? 0).trim()
    if (open && text && mark === undefined && !cells) open.text += ` ${text}`
    else {
      open = undefined
      for (const each of cells ?? [text]) {
        if (!each.trim()) continue
        const isFirst = texts.length === 0 && !mark
        open = { kind: isFirst || kind === 'string' ? kind : 'prose', line: firstLine + index, text: each.trim() }
        texts.push(open)
      }
      if (cells || mark?.includes('#')) open = undefined
    }
  }
  return texts.filter(({ text }) => /\p{L}/u.test(text))
}

/** Replaces code by X, and removes marks, addresses and blocks of code. Each line keeps its number. */
function withoutMarks(markdown: string): string {
  return markdown
    .replace(/<!--.*?-->|^([ \t>]*)(`{3,}|~{3,}).*?^\1\2.*?$|^\s*@(?:example|openapi)\b.*?(?=^\s*@|$(?!\n))/gms, blank)
    .replace(
      /(`+)(?!`).*?[^`]\1(?!`)|\{@\w+ [^}]*\}|https?:\/\/[^\s)>\]]+|nosemgrep: \S+/gs,
      (code) => `X${blank(code)}`,
    )
    .replace(/!?\[(?=[^\]]*\]\()|\]\([^)\s]*(?: "[^"]*")?\)|\]\[[^\]]*\]/g, '')
    .replace(/<\/?[a-z][^>]*>/gi, blank)
    .replace(/\*\*|(?<!\w)[_*](?=\S)|(?<=\S)[_*](?!\w)|\\(?=[^\w\s])| (?=%)/g, '')
    .replaceAll('"', '”')
}

function blank(text: string): string {
  return text.replace(/[^\n]+/g, '')
}

function lineOf(source: string, index: number): number {
  return source.slice(0, index).split('\n').length
}
