import { parseSync } from 'oxc-parser'
import { textsOfBlock, textsOfLineComments } from './comments.ts'
import { type Kind, type Text, TextBuilder } from './text.ts'

/** A node of the syntax tree (ESTree), whose other fields depend on its type. */
export interface Node {
  type: string
  start: number
  end: number
  [field: string]: unknown
}

/** Returns the nodes below a node, in the order of the file. */
export function childrenOf(node: Node): Node[] {
  return Object.values(node).flat().filter(isNode)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

const titles: Record<string, Kind> = {
  it: 'test title',
  specify: 'test title',
  describe: 'suite title',
  suite: 'suite title',
}
const printing =
  /^(?:print|note|warn|fail|refuse|report|problem|usage|onProgress|console\.\w+|(?:this\.)?#?log(?:ger)?\.\w+|process\.std(?:out|err)\.write)$/
const properties: Record<string, Kind> = {
  summary: 'API description',
  description: 'API description',
  help: 'help',
  more: 'help',
  nextStep: 'message',
  detail: 'message',
}
/** Attributes of page elements whose values are texts for users. */
const attributes = /^(?:title|placeholder|alt|label|hint|empty|aria-label|aria-description)$/
/** Attributes of page elements whose values only the browser reads. */
const unread = /^(?:class|style|d|href|id|key|points|role|src|type|viewBox)$/
/** Elements that can be part of a sentence. */
const inline = /^(?:a|abbr|b|code|em|i|kbd|mark|q|s|small|span|strong|sub|sup|time|u|var)$/
const codeElements = /^(?:code|kbd|pre|var|script|style)$/

/**
 * Returns the texts of a file of TypeScript or JavaScript: comments, titles of tests, messages, help and texts of the user interface.
 * @throws {Error} for a file that cannot be parsed
 */
export function textsOfCode(file: string, source: string): Text[] {
  const { program, comments, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  const texts: Text[][] = [textsOfComments(source, comments)]
  const isTest = /\.test\.tsx?$/.test(file)
  const isPage = /(^|\/)page\/(?!.*build\.ts$)/.test(file) && !/(^|\/)test\//.test(file)
  visit(program as unknown as Node)
  const byStart = new Map(texts.flat().map((text) => [text.start, text]))
  return [...byStart.values()].sort((one, other) => one.start - other.start)

  function visit(node: Node): void {
    for (const [part, kind] of textsBelow(node)) texts.push(textOf(source, part).build(kind))
    if (isPage && isShownText(node)) texts.push(textOf(source, node).build('UI text'))
    if (node.type === 'JSXElement' || node.type === 'JSXFragment') texts.push(textsOfChildren(source, node))
    if (node.type === 'JSXAttribute' && unread.test((node.name as Node).name as string)) return
    for (const child of childrenOf(node)) visit(child)
  }

  function textsBelow(node: Node): [Node, Kind][] {
    if (node.type === 'CallExpression') return textsOfCall(node, isTest)
    if (isTest) return []
    if (node.type === 'NewExpression' && /(?:Error|Problem)$/.test(nameOf(node.callee as Node))) return messagesIn(node)
    if (node.type === 'VariableDeclarator' && /^(?:help|usage)$|(?:Help|Usage)$/.test(nameOf(node.id as Node))) {
      return node.init ? stringsIn(node.init as Node).map((each) => [each, 'help']) : []
    }
    if (node.type === 'Property') return textsOfProperty(node)
    if (node.type !== 'JSXAttribute' || !attributes.test((node.name as Node).name as string)) return []
    const value = node.value as Node | null
    return value ? stringsIn(value).map((each) => [each, 'UI text']) : []
  }
}

function textsOfComments(source: string, comments: { type: string; start: number; end: number }[]): Text[] {
  const texts: Text[][] = []
  let lines: { start: number; end: number } | undefined
  const finish = () => {
    if (lines) texts.push(textsOfLineComments(source, lines.start, lines.end, '//'))
    lines = undefined
  }
  for (const { type, start, end } of comments) {
    if (
      type === 'Line' &&
      lines &&
      /^\s*$/.test(source.slice(lines.end, start)) &&
      !source.slice(lines.end, start).includes('\n\n')
    ) {
      lines.end = end
    } else {
      finish()
      if (type === 'Line') lines = { start, end }
      else texts.push(textsOfBlock(source, start + 2, end - 2))
    }
  }
  finish()
  return texts.flat()
}

function textsOfCall(node: Node, isTest: boolean): [Node, Kind][] {
  const name = nameOf(node.callee as Node)
  const title = titles[name.replace(/\.(?:only|skip)$/, '')]
  const [first] = node.arguments as Node[]
  if (title) return first && isString(first) ? [[first, title]] : []
  return !isTest && printing.test(name) ? messagesIn(node) : []
}

function messagesIn(node: Node): [Node, Kind][] {
  return (node.arguments as Node[])
    .flatMap(stringsIn)
    .filter(isSentence)
    .map((each) => [each, 'message'])
}

function textsOfProperty(node: Node): [Node, Kind][] {
  const key = node.key as Node
  const kind = properties[(key.name ?? key.value) as string]
  return kind
    ? stringsIn(node.value as Node)
        .filter(isSentence)
        .map((each) => [each, kind])
    : []
}

/** Returns the name of a called function, for example `log.info`. */
function nameOf({ type, name, object, property }: Node): string {
  if (type === 'ThisExpression') return 'this'
  if (type === 'PrivateIdentifier') return `#${name}`
  if (type === 'MemberExpression') return `${nameOf(object as Node)}.${nameOf(property as Node)}`
  return typeof name === 'string' ? name : ''
}

function isString({ type, value, operator, left, right }: Node): boolean {
  if (type === 'Literal') return typeof value === 'string'
  if (type === 'BinaryExpression') return operator === '+' && (isString(left as Node) || isString(right as Node))
  return type === 'TemplateLiteral'
}

/** Returns the strings that an expression may become, for example both branches of a condition. */
function stringsIn(node: Node): Node[] {
  if (isString(node)) return [node]
  switch (node.type) {
    case 'ConditionalExpression':
      return [node.consequent, node.alternate].flatMap((each) => stringsIn(each as Node))
    case 'LogicalExpression':
      return [node.left, node.right].flatMap((each) => stringsIn(each as Node))
    case 'JSXExpressionContainer':
      return stringsIn(node.expression as Node)
    default:
      return []
  }
}

/** Adds a string as a reader sees it: without quotes, and with one word for each expression. */
function textOf(source: string, node: Node, builder = new TextBuilder(source)): TextBuilder {
  if (node.type === 'BinaryExpression') {
    textOf(source, node.left as Node, builder)
    return textOf(source, node.right as Node, builder)
  }
  if (node.type === 'TemplateLiteral') {
    for (const quasi of node.quasis as Node[]) {
      // In TypeScript, the position of a template's part includes its delimiters, as in typescript-eslint.
      const start = quasi.start + (/[`}]/.test(source[quasi.start] as string) ? 1 : 0)
      keepString(builder, source, start, start + (quasi.value as { raw: string }).raw.length)
    }
    for (const { start, end } of node.expressions as Node[]) builder.replace(source.lastIndexOf('${', start), end + 1)
    return builder
  }
  return isString(node)
    ? keepString(builder, source, node.start + 1, node.end - 1)
    : builder.replace(node.start, node.end)
}

function keepString(builder: TextBuilder, source: string, start: number, end: number): TextBuilder {
  builder.keep(start, end)
  const text = source.slice(start, end)
  for (const { index, 0: found } of text.matchAll(/`[^`\n]+`|https?:\/\/[^\s)>\]]+/g)) {
    builder.replace(start + index, start + index + found.length)
  }
  for (const { index, 0: found } of text.matchAll(/\\(?:[nrt]|u\{?[\da-fA-F]+\}?|.)/g)) {
    if (/\\['"`]/.test(found)) builder.omit(start + index)
    else builder.drop(start + index, start + index + found.length)
  }
  return builder
}

/** Returns true for a string of words, and false for a code or a pattern. */
function isSentence(node: Node): boolean {
  const text = node.type === 'Literal' ? (node.value as string) : ''
  return node.type !== 'Literal' || /\p{L}\S*\s+\S*\p{L}|^\p{Lu}\p{Ll}+\.?$/u.test(text)
}

/** Returns true for a string of the page that has several words and no signs of code. */
function isShownText(node: Node): boolean {
  if (node.type === 'TemplateLiteral')
    return isPhrase((node.quasis as Node[]).map(({ value }) => (value as { raw: string }).raw).join('x'))
  return node.type === 'Literal' && typeof node.value === 'string' && isPhrase(node.value)
}

function isPhrase(text: string): boolean {
  return /\p{L}{2}[,:…]? \p{L}/u.test(text) && !/[{}<>;=#]|\p{Ll}-\p{Ll}.* \p{Ll}+-|^[Ma] ?\d/u.test(text)
}

/** Returns the texts between an element's tags. An element within a sentence is part of the sentence's text. */
function textsOfChildren(source: string, element: Node): Text[] {
  const name = elementName(element)
  if (inline.test(name) || codeElements.test(name)) return []
  const texts: Text[][] = []
  let builder = new TextBuilder(source)
  for (const child of element.children as Node[]) {
    if (keepChild(builder, source, child)) continue
    texts.push(builder.build('UI text'))
    builder = new TextBuilder(source)
    texts.push(stringsIn(child).flatMap((each) => textOf(source, each).build('UI text')))
  }
  return [...texts.flat(), ...builder.build('UI text')]
}

/** Adds a child of an element, or returns false if the child begins a separate text. */
function keepChild(builder: TextBuilder, source: string, child: Node): boolean {
  if (child.type === 'JSXText') builder.keep(child.start, child.end)
  else if (child.type === 'JSXExpressionContainer') return keepExpression(builder, source, child)
  else if (codeElements.test(elementName(child))) builder.replace(child.start, child.end)
  else if (inline.test(elementName(child)))
    for (const each of child.children as Node[]) keepChild(builder, source, each)
  else return false
  return true
}

/** Adds a text in braces, or one word for any other expression. Returns false for an expression with elements or a choice of texts. */
function keepExpression(builder: TextBuilder, source: string, { expression: inner, start, end }: Node): boolean {
  const expression = inner as Node
  if (expression.type === 'JSXEmptyExpression') return true
  if (isString(expression)) textOf(source, expression, builder)
  else if (hasElement(expression) || stringsIn(expression).length > 0) return false
  else builder.replace(start, end)
  return true
}

function hasElement(node: Node): boolean {
  return node.type === 'JSXElement' || node.type === 'JSXFragment' || childrenOf(node).some(hasElement)
}

function elementName(node: Node): string {
  const opening = node.openingElement as Node | undefined
  const name = (opening?.name as Node | undefined)?.name
  return typeof name === 'string' ? name : ''
}
