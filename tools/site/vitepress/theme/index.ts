import type { Theme } from 'vitepress'
import DefaultTheme, { VPHomeHero } from 'vitepress/theme'
import { h } from 'vue'
import { Diagram } from './diagram.ts'
import { NotFound } from './not-found.ts'
import { VersionMenu } from './version-menu.ts'
import './style.css'

export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'nav-bar-content-after': () => h(VersionMenu, { class: 'in-bar' }),
      'nav-screen-content-after': () => h(VersionMenu),
      'not-found': () => h(NotFound),
    }),
  enhanceApp({ app }) {
    app.component('Diagram', Diagram)
    app.component('Hero', VPHomeHero)
  },
} satisfies Theme
