/** The JSON document in a text; undefined when there is none. */
export function documentIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
