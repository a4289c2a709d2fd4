import type { Page } from '../pages.ts'

/** Returns a page of the reference. It states its origin below the title. @param origin the origins of the page, in Markdown */
export function referencePage(name: string, title: string, description: string, origin: string, body: string): Page {
  const text = `# ${title}\n\n${description}.\n\n_Generated from ${origin}._\n\n${body.trim()}\n`
  return { source: `docs/reference/${name}.md`, title, description, text }
}

/** Returns a section with a table. Cells are Markdown. */
export function section(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows.map((row) => row.map(cell))]
  return `## ${title}\n\n${lines.map((line) => `| ${line.join(' | ')} |\n`).join('')}\n`
}

const cell = (text: string) => text.trim().replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')

/** Returns code within a line; nothing for an empty text. */
export const code = (text: string): string => (text ? `\`${text}\`` : '')
