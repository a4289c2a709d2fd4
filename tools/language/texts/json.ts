import { type Text, TextBuilder } from './text.ts'

/** Returns the titles and descriptions in a JSON file, such as a JSON Schema. */
export function textsOfJson(source: string): Text[] {
  return [
    ...source.matchAll(/"(?:title|description|\$comment)"\s*:\s*"(?<text>(?:[^"\\]|\\.)* (?:[^"\\]|\\.)*)"/dg),
  ].flatMap(({ indices }) => {
    const [start, end] = indices?.groups?.text ?? [0, 0]
    return new TextBuilder(source).keep(start, end).build('schema')
  })
}
