import { type Theme, withBase } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import { h } from 'vue'
import { Diagram } from './diagram.ts'
import './style.css'

/** The content of the page for unknown addresses. That of VitePress has no landmark. */
const NotFound = () =>
  h('main', { class: 'not-found vp-doc' }, [
    h('h1', 'Page not found'),
    h('p', ['Search for it, or continue at the ', h('a', { href: withBase('/docs/') }, 'list of documents'), '.']),
  ])

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': () => h(NotFound) }),
  enhanceApp: ({ app }) => void app.component('Diagram', Diagram),
} satisfies Theme
