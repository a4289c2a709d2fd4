import { readFileSync } from 'node:fs'
import { type DefaultTheme, defineConfig } from 'vitepress'
import { accessibleSearch, fencedCode, withoutEmptyHeaders } from './accessibility.ts'

/** The content of `site.json`, which `stage.ts` writes next to this file. */
export interface Site {
  /** The path of this version on its host, for example `/0.2.0/`. */
  base: string
  /** The version, or `unreleased`. */
  version: string
  sidebar: DefaultTheme.SidebarItem[]
}

const { base, version, sidebar } = JSON.parse(readFileSync(new URL('site.json', import.meta.url), 'utf8')) as Site

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
      fencedCode(md)
      // VitePress compiles pages as templates of Vue, in which double braces contain code.
      for (const rule of ['text', 'code_inline'] as const) {
        const usual = md.renderer.rules[rule]
        md.renderer.rules[rule] = (...given) => usual?.(...given).replaceAll('{{', '&#123;&#123;') ?? ''
      }
      const usual = md.renderer.rules.fence
      md.renderer.rules.fence = (...given) => {
        const [tokens, index] = given
        const { info, content } = tokens[index] ?? { info: '', content: '' }
        if (info.trim() !== 'mermaid') return usual?.(...given) ?? ''
        return `<Diagram code="${encodeURIComponent(content)}" />`
      }
    },
  },
  vite: { plugins: [accessibleSearch], logLevel: 'error' },
  themeConfig: {
    version,
    sidebar,
    siteTitle: 'orderflow',
    nav: [
      { text: 'Documents', link: '/documents' },
      { text: 'Changelog', link: '/changelog' },
    ],
    outline: [2, 3],
    search: { provider: 'local' },
  } as DefaultTheme.Config,
})
