import type { Entry } from './navigation.ts'

/** Returns the start page: the text of README.md below a title with links to the groups of documents. The first sentence becomes the subtitle. */
export function homePage(readme: string, groups: readonly Entry[]): string {
  const [, title = '', tagline = '', text = ''] = /^# (.+)\n\n(.+?\.)\s+([\s\S]*)$/.exec(readme) ?? []
  const kinds = groups
    .slice(0, -1)
    .map(({ text }) => ({ text, link: `/documents#${text.toLowerCase().replaceAll(' ', '-')}`, theme: 'alt' }))
  const actions = [{ text: 'Start', link: '#start', theme: 'brand' }, ...kinds]
  return `---\n${JSON.stringify({ sidebar: false, aside: false, hero: { name: title, tagline, actions } })}\n---\n\n<Hero />\n\n${text}`
}
