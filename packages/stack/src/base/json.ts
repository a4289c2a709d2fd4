import jsonc, { type JSONPath, type Node } from 'jsonc-parser'

/** Returns JSON text with other values at these paths. Everything else keeps its layout and its comments. A missing path changes nothing. */
export function withValues(json: string, values: readonly (readonly [path: JSONPath, value: string])[]): string {
  return values.reduce((text, [path, value]) => {
    const node = nodeAt(text, path)
    return node ? text.slice(0, node.offset) + value + text.slice(node.offset + node.length) : text
  }, json)
}

/** Returns JSON text with another last member in an object, which must have one already. Returns undefined for a missing object. */
export function withMember(json: string, path: JSONPath, member: string): string | undefined {
  const last = nodeAt(json, path)?.children?.at(-1)
  if (!last) return undefined
  const end = last.offset + last.length
  return `${json.slice(0, end)},\n${member}${json.slice(end)}`
}

function nodeAt(json: string, path: JSONPath): Node | undefined {
  const tree = jsonc.parseTree(json)
  return tree && jsonc.findNodeAtLocation(tree, path)
}
