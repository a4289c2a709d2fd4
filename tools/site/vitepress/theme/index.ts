import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import { h } from 'vue'
import { Diagram } from './diagram.ts'
import { VersionMenu } from './version-menu.ts'
import './style.css'

export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'nav-bar-content-after': () => h(VersionMenu, { class: 'in-bar' }),
      'nav-screen-content-after': () => h(VersionMenu),
    }),
  enhanceApp: ({ app }) => void app.component('Diagram', Diagram),
} satisfies Theme
