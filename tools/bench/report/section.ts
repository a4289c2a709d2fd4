import type { PartName } from '../parts/index.ts'
import { markdownOf } from './markdown.ts'
import { chartOf } from './pictures.ts'
import { describeEnvironment, type Result } from './results.ts'

const marks = (part: string) => [`<!-- bench:${part} -->`, `<!-- /bench:${part} -->`] as const

/**
 * Returns the text between `<!-- bench:PART -->` and `<!-- /bench:PART -->`.
 * @throws {Error} if the document lacks these comments
 */
export function sectionIn(document: string, part: string): string {
  const [begin, end] = marks(part)
  const [from, to] = [document.indexOf(begin), document.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the document has no section of ${part}: add ${begin} and ${end}`)
  return document.slice(from + begin.length, to)
}

/**
 * Replaces the section of a part.
 * @throws {Error} if the document lacks it
 */
export function withSection(document: string, part: string, text: string): string {
  const [begin, end] = marks(part)
  return document.replace(`${begin}${sectionIn(document, part)}${end}`, () => `${begin}\n${text}\n${end}`)
}

/** Returns the tables of a result as Markdown, with the date and the machine. */
export const sectionOf = (result: Result) => `\n${markdownOf(result)}\n${describeEnvironment(result)}.\n`

/** Returns the section of the page of results: the picture of a part, and the date, the processor and the commit of its tables. */
export function pictureSection(part: PartName, findings: string): string {
  const section = sectionIn(findings, part)
  const [, date, processor, commit] = /^(\d{4}-\d\d-\d\d), ([^,]+), .*; commit (\w+\+?);/m.exec(section) ?? []
  return `\n![${chartOf(part, section).title}](performance/${part}.svg)\n\n${date}, ${processor}, commit ${commit}.\n`
}
