/** The JSON document in a text; null when there is none. */
export function documentIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
