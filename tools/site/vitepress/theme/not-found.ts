import { withBase } from 'vitepress'
import { h } from 'vue'

/** The content of the page for unknown addresses. */
export const NotFound = () =>
  h('main', { class: 'not-found vp-doc' }, [
    h('h1', 'Page not found'),
    h('p', [
      'This version has no page with this address. Search for it, or continue at the ',
      h('a', { href: withBase('/') }, 'start page'),
      ' or the ',
      h('a', { href: withBase('/documents.html') }, 'list of documents'),
      '.',
    ]),
  ])
