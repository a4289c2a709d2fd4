/** The name of the contract's package in version 0.1.0. */
const contract = '@orderflow/envelope-schema'

/** Returns TypeScript of version 0.1.0 in the form of this version, as far as the text alone shows what to change. */
export function movedSource(text: string, application: string): string {
  const renamed = text.replaceAll(`'${contract}'`, `'@${application}/envelope-schema'`)
  // The names of reactions have no version: a reaction receives every version of its event.
  const unversioned = renamed.replaceAll(/(?<=(?:^|[{,])\s*)'([A-Za-z]\w*)@\d+':/gm, '$1:')
  return withoutKeys(unversioned)
}

/** Removes the key from calls `publish(topic, key, envelope)`, because services.json declares the keys of topics. */
function withoutKeys(text: string): string {
  let moved = text
  for (const { index } of [...text.matchAll(/\bpublish\(/g)].reverse()) {
    const begin = index + 'publish('.length
    const [topic, key, envelope, ...others] = argumentsAt(moved, begin)
    // A comma may follow the last argument.
    const hasMore = others.some((text) => text.trim() !== '')
    if (topic === undefined || key === undefined || envelope === undefined || hasMore) continue
    const end = begin + [topic, key, envelope].join(',').length
    moved = `${moved.slice(0, begin)}${topic},${envelope}${moved.slice(end)}`
  }
  return moved
}

/** Returns the texts of a call's arguments. The call begins at `begin`, after its parenthesis. */
function argumentsAt(text: string, begin: number): string[] {
  const found: string[] = []
  let [depth, from] = [0, begin]
  for (let at = begin; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (`'"\``.includes(character)) at = endOfText(text, at)
    else if ('([{'.includes(character)) depth += 1
    else if (depth === 0 && (character === ',' || character === ')')) {
      found.push(text.slice(from, at))
      if (character === ')') return found
      from = at + 1
    } else if (')]}'.includes(character)) depth -= 1
  }
  return []
}

function endOfText(text: string, begin: number): number {
  const quote = text.charAt(begin)
  for (let at = begin + 1; at < text.length; at += 1) {
    if (text.charAt(at) === '\\') at += 1
    else if (text.charAt(at) === quote) return at
  }
  return text.length
}
