/** Returns the value of a JSON text; undefined if the text is not JSON. The error of V8 is dropped, because its message quotes a part of the text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
