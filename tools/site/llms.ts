import { type Entry, type Page, pathOf, plainText } from './pages.ts'

/** Returns the list of pages for language models (https://llmstxt.org): a line for each page of the navigation. */
export function llmsText(pages: readonly Page[], groups: readonly Entry[], base: string): string {
  const descriptions = new Map(pages.map(({ source, description }) => [pathOf(source), description]))
  const readme = pages.find(({ source }) => source === 'README.md')?.text ?? ''
  const [, title = '', text = ''] = /^# (.+)\n\n([\s\S]+?)\n\n/.exec(readme) ?? []
  const parts = groups.map(({ text: group, items = [] }) => {
    const lines = items
      .flatMap((item) => [item, ...(item.items ?? [])])
      .map(({ text: label, link = '' }) => {
        const path = link.slice(1).replace(/(^|\/)$/, '$1index')
        const description = descriptions.get(`${path}.md`)
        return `- [${label}](${base}${path}.html)${description ? `: ${description}` : ''}\n`
      })
    return `## ${group}\n\n${lines.join('')}`
  })
  return `# ${title}\n\n> ${plainText(text).replaceAll('\n', ' ')}\n\n${parts.join('\n')}`
}
