import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { homePage } from './home.ts'
import { type LinkOptions, linked } from './links.ts'
import type { Entry } from './navigation.ts'
import { type Page, pathOf } from './pages.ts'

export interface Stage {
  /** The folder to write. Its earlier content is removed. */
  folder: string
  /** The checkout with the files of the pages. */
  root: string
  pages: readonly Page[]
  groups: readonly Entry[]
  base: string
  version: string
  sourceUrl?: string | undefined
  /** The `node_modules` with VitePress. */
  modules: string
}

/** Writes the folder that VitePress builds: pages, pictures, settings and theme. */
export function stage({ folder, root, pages, groups, base, version, sourceUrl, modules }: Stage): void {
  rmSync(folder, { recursive: true, force: true })
  const options: LinkOptions = { root, sourceUrl, pages: new Map(pages.map((page) => [page.source, page])) }
  for (const page of pages) {
    const { text, pictures } = linked(page, options)
    write(join(folder, page.path), page.path === 'index.md' ? homePage(text, groups) : text)
    for (const picture of pictures) cpSync(join(root, picture), join(folder, pathOf(picture)))
  }
  write(join(folder, '.vitepress/site.json'), JSON.stringify({ base, version, sidebar: groups }))
  for (const part of ['config.ts', 'accessibility.ts', 'theme'])
    cpSync(join(import.meta.dirname, 'vitepress', part), join(folder, '.vitepress', part), { recursive: true })
  cpSync(join(import.meta.dirname, 'vitepress/tsconfig.json'), join(folder, 'tsconfig.json'))
  symlinkSync(modules, join(folder, 'node_modules'))
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
