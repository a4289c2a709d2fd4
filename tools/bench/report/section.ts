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

/** Returns the section of the page of results: the picture of a part, and the origin of its tables. */
export function pictureSection(part: PartName, findings: string): string {
  const section = sectionIn(findings, part)
  return `\n![${chartOf(part, section).title}](performance/${part}.svg)\n\n${originOf(section)}\n`
}

/**
 * Returns the date and the commit of a section's tables. Reports uncommitted changes, and a load before the measurement above the number of cores.
 * @throws {Error} if the section lacks its last line
 */
export function originOf(section: string): string {
  const line = /^(\d{4}-\d\d-\d\d), (\d+) x .*; commit (\w+)(\+?); load before: (\d+\.\d)/m
  const [found, date, cores, commit, plus, load] = line.exec(section) ?? []
  if (!found) throw new Error('the section lacks the line with date, machine, commit and load')
  const changes = plus ? ' with uncommitted changes' : ''
  const busy = Number(load) > Number(cores) ? `; busy (load ${load})` : ''
  return `${date}, commit ${commit}${changes}${busy}.`
}
