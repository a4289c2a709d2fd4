import { readFileSync } from 'node:fs'
import { type DefaultTheme, defineConfig } from 'vitepress'
import { accessibleSearch, withoutEmptyHeaders } from './accessibility.ts'

/** The content of `site.json`, which `build.ts` writes next to this file. */
interface Site {
  /** The path of the site on its host, for example `/orderflow/`. */
  base: string
  sidebar: DefaultTheme.SidebarItem[]
  /** The documents of the last release on the code host. */
  release?: DefaultTheme.NavItemWithLink
}

const { base, sidebar, release } = JSON.parse(readFileSync(new URL('site.json', import.meta.url), 'utf8')) as Site

/** Returns the anchor of a heading as GitHub does, because links must work in both places. */
const slugify = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

export default defineConfig({
  base,
  title: 'orderflow',
  description: 'Event-driven microservices in TypeScript, with Dapr and Kafka',
  metaChunk: true,
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    anchor: { slugify },
    // The usual themes have too little contrast.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // Braces are text, as on GitHub.
    attrs: { disable: true },
    config(md) {
      withoutEmptyHeaders(md)
      // VitePress compiles pages as templates of Vue, in which double braces contain code.
      for (const rule of ['text', 'code_inline'] as const) {
        const usual = md.renderer.rules[rule]
        md.renderer.rules[rule] = (...given) => usual?.(...given).replaceAll('{{', '&#123;&#123;') ?? ''
      }
      const usual = md.renderer.rules.fence
      md.renderer.rules.fence = (tokens, index, ...given) => {
        const { info = '', content = '' } = tokens[index] ?? {}
        if (info.trim() !== 'mermaid') return usual?.(tokens, index, ...given) ?? ''
        const heading = tokens.slice(0, index).findLastIndex(({ type }) => type === 'heading_open')
        return `<Diagram code="${encodeURIComponent(content)}" name="${slugify(tokens[heading + 1]?.content ?? '')}" />`
      }
    },
  },
  vite: { plugins: [accessibleSearch], logLevel: 'error' },
  themeConfig: {
    sidebar,
    siteTitle: 'orderflow',
    nav: [
      { text: 'Documents', link: '/docs/' },
      { text: 'Changelog', link: '/CHANGELOG' },
      ...(release ? [release] : []),
    ],
    outline: [2, 3],
    search: { provider: 'local' },
  },
})
