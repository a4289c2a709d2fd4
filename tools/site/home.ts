import { anchorsOf } from '@orderflow/test/markdown'
import type { Entry } from './navigation.ts'
import { plainText } from './pages.ts'

/**
 * Returns the start page: the text of README.md below a title with links to the groups of documents. The first sentence becomes the subtitle.
 * @throws {Error} if the README does not begin with a title and a sentence
 */
export function homePage(readme: string, groups: readonly Entry[]): string {
  const found = /^# (.+)\n\n([\s\S]+?\.)\s+([\s\S]*)$/.exec(readme)
  if (!found) throw new Error('README.md must begin with a title and a sentence')
  const [, name = '', sentence = '', text = ''] = found
  const kinds = groups
    .slice(0, -1)
    .map((group) => ({ text: group.text, link: `/documents#${anchorsOf(`# ${group.text}`)[0]}`, theme: 'alt' }))
  const actions = [{ text: 'Start', link: '#start', theme: 'brand' }, ...kinds]
  const hero = { name, tagline: plainText(sentence).replaceAll('\n', ' '), actions }
  return `---\n${JSON.stringify({ sidebar: false, aside: false, hero })}\n---\n\n<Hero />\n\n${text}`
}
