import type { MarkdownOptions, Plugin } from 'vitepress'

type Markdown = Parameters<NonNullable<MarkdownOptions['config']>>[0]

/**
 * The replacements in components of VitePress 1.6, whose markup breaks rules of axe. The search becomes a dialog instead of a button. Its results
 * become a list of links instead of options.
 */
const replacements: Record<string, [search: string | RegExp, replacement: string][]> = {
  'VPLocalSearchBox.vue': [
    [
      /role="button"\s+:aria-owns="[^"]+"\s+aria-expanded="true"\s+aria-haspopup="listbox"/,
      'role="dialog" aria-modal="true"',
    ],
    [`:role="results?.length ? 'listbox' : undefined"`, ''],
    [/:aria-selected="[^"]+"\s+role="option"/, ''],
    [`:aria-label="[...p.titles, p.title].join(' > ')"`, ''],
    [/<kbd :aria-label/g, '<kbd role="img" :aria-label'],
  ],
  // The style sheet shows the K, because the name of the button must contain all of its text.
  'VPNavBarSearchButton.vue': [['"DocSearch-Button-Key">K<', '"DocSearch-Button-Key key-k"><']],
}

/** Changes the search of VitePress. @throws {Error} if a new version of VitePress has another markup */
export const accessibleSearch: Plugin = {
  name: 'accessible-search',
  enforce: 'pre',
  transform(source, id) {
    const [, found = []] = Object.entries(replacements).find(([name]) => id.endsWith(`/${name}`)) ?? []
    return found.reduce((text, [search, replacement]) => {
      const changed = text.replace(search, replacement)
      if (changed === text)
        throw new Error(`${id} does not contain ${search}; see whether it still breaks rules of axe`)
      return changed
    }, source)
  },
}

/** Makes empty cells in the head of a table normal cells, because a header needs a text. */
export function withoutEmptyHeaders(md: Markdown): void {
  md.core.ruler.push('empty-headers', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      if (token.type !== 'th_open' || tokens[index + 1]?.content) continue
      for (const part of [token, tokens[index + 2]]) if (part) part.tag = 'td'
    }
  })
}
