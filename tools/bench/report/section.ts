import { markdownOf } from './markdown.ts'
import { chartFile, describeEnvironment, type Result } from './results.ts'

/** Replaces the text between `<!-- bench:PART -->` and `<!-- /bench:PART -->`. */
export function withSection(document: string, part: string, text: string): string {
  const [begin, end] = [`<!-- bench:${part} -->`, `<!-- /bench:${part} -->`]
  const [from, to] = [document.indexOf(begin), document.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the document has no section of ${part}: add ${begin} and ${end}`)
  return `${document.slice(0, from + begin.length)}\n${text}\n${document.slice(to)}`
}

/** Returns a result as Markdown. `folder` is the relative path of its charts. */
export function sectionOf(result: Result, folder: string): string {
  const charts = result.charts.map(({ name, title }) => `![${title}](${folder}/${chartFile(result.part, name)})\n`)
  return `\n${[...charts, markdownOf(result), `${describeEnvironment(result)}.`].join('\n')}\n`
}
