import { nothing, standIn, type Text } from './text.ts'

/** Returns a text with single spaces in place of all white space, and the original index of each of its characters. */
export function plain(value: string): { text: string; indices: number[] } {
  let text = ''
  const indices: number[] = []
  for (let index = 0; index < value.length; index++) {
    if (value[index] === nothing) continue
    const character = /\s/.test(value[index] as string) ? ' ' : (value[index] as string)
    if (character === ' ' && (text === '' || text.endsWith(' '))) continue
    text += character
    indices.push(index)
  }
  return { text: text.trimEnd(), indices }
}

/** Returns a text as a reader sees it, with its code but without comment marks. */
export function shown({ start, value }: Text, source: string): string {
  const { text } = plain(value.replaceAll(standIn, (_, index: number) => source[start + index] as string))
  return text.replace(/(?<=\() | (?=[).,;:?!](?: |$))/g, '')
}

/** Returns the number of the line, from 1, that has a character. */
export function lineOf(source: string, index: number): number {
  return source.slice(0, index).split('\n').length
}
