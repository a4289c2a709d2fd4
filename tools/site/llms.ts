import type { Entry } from './navigation.ts'
import { addressOf, type Page, plainText } from './pages.ts'

/** Returns the list of pages for language models (https://llmstxt.org): a line for each page of the navigation. */
export function llmsText(pages: readonly Page[], groups: readonly Entry[], base: string): string {
  const descriptions = new Map(pages.map((page) => [addressOf(page.path), page.description]))
  const [, title = '', text = ''] =
    /^# (.+)\n\n([\s\S]+?)\n\n/.exec(pages.find(({ path }) => path === 'index.md')?.text ?? '') ?? []
  const lineOf = ({ text, link = '' }: Entry): string => {
    const description = descriptions.get(link)
    return `- [${text}](${base}${link.slice(1).replace(/(?<=[^/])$/, '.html')})${description ? `: ${description}` : ''}`
  }
  const parts = groups.map(({ text, items = [] }) => {
    const lines = items.flatMap((item) => [item, ...(item.items ?? [])]).map(lineOf)
    return `## ${text}\n\n${lines.join('\n')}`
  })
  return `# ${title}\n\n> ${plainText(text).replaceAll('\n', ' ')}\n\n${parts.join('\n\n')}\n`
}
