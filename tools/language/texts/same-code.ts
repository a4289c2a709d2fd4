import { parseSync } from 'oxc-parser'

/** Fields of a node that depend on its position and spelling only. */
const omitted = new Set(['start', 'end', 'range', 'loc', 'raw', 'hashbang'])
/** Fields whose strings name a module or a property. Changing such a string changes the code. */
const names = new Set(['source', 'key', 'property'])
/** A string in the tree, which keeps its expressions and loses its characters. */
interface Reduced {
  type: 'Text'
  expressions: unknown[]
}

/** Returns true for a file of tests, in which patterns and the keys of objects can be texts. */
const isTest = (file: string) => /(^|\/)test\//.test(file)

/**
 * Returns true if two versions of a file have the same syntax tree. Comments, the content of strings and the text of the page are ignored,
 * and in tests also regular expressions and keys in quotes.
 * @throws {Error} for a version that cannot be parsed
 */
export function isSameCode(file: string, before: string, after: string): boolean {
  return JSON.stringify(treeOf(file, before)) === JSON.stringify(treeOf(file, after))
}

function treeOf(file: string, source: string): unknown {
  const { program, errors } = parseSync(file, source, { preserveParens: false })
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  return reduced(program, '', isTest(file))
}

function reduced(value: unknown, field: string, isTest: boolean): unknown {
  if (Array.isArray(value)) {
    const all = value.map((each) => reduced(each, field, isTest))
    return field === 'children' ? all.filter((each) => !isText(each) || each.expressions.length > 0) : all
  }
  // JSON has no form for a bigint or a RegExp.
  if (typeof value === 'bigint' || value instanceof RegExp) return `${value}`
  if (typeof value !== 'object' || value === null) return value
  const node = value as Record<string, unknown>
  if (node.type === 'Literal' && typeof node.value === 'string') {
    return names.has(field) && !(isTest && field === 'key') ? node.value : textWith([])
  }
  if (isTest && node.type === 'Literal' && 'regex' in node) return textWith([])
  if (node.type === 'JSXText') return textWith([])
  const entries = Object.entries(node).filter(([name]) => !omitted.has(name))
  return withoutCharacters(Object.fromEntries(entries.map(([name, each]) => [name, reduced(each, name, isTest)])))
}

/** Replaces a template, strings joined by `+` and a string in braces by one `Reduced`. */
function withoutCharacters(node: Record<string, unknown>): unknown {
  const { type, operator, left, right, expression } = node
  if (type === 'TemplateLiteral') return textWith(node.expressions as unknown[])
  if (type === 'BinaryExpression' && operator === '+' && (isText(left) || isText(right))) {
    return textWith([left, right].flatMap((each) => (isText(each) ? each.expressions : [each])))
  }
  return type === 'JSXExpressionContainer' && isText(expression) ? expression : node
}

function textWith(expressions: unknown[]): Reduced {
  return { type: 'Text', expressions }
}

function isText(value: unknown): value is Reduced {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'Text'
}
