import { dirname } from 'node:path'
import { addressOf, groupsOf, type Page, pathOf, withRows } from './pages.ts'

/** An entry of the navigation, in the form that VitePress requires. */
export interface Entry {
  text: string
  link?: string
  items?: Entry[]
  collapsed?: boolean
}

/**
 * Returns the navigation: the groups of the table of documents with the pages that each of them lists. A folder's other pages follow below its README.
 * The last group has all remaining pages.
 */
export function navigation(pages: readonly Page[], table: string, generated: readonly Page[]): Entry[] {
  const groups = groupsOf(withRows(table, generated))
  const listed = new Set(groups.flatMap(({ documents }) => documents.map(({ source }) => source)))
  const others = pages.filter(({ source, path }) => !listed.has(source) && path !== 'index.md')
  const childrenOf = (source: string) =>
    source.endsWith('/README.md') ? others.filter((other) => other.source.startsWith(`${dirname(source)}/`)) : []
  const remaining = others.filter((page) => ![...listed].some((source) => childrenOf(source).includes(page)))
  return [
    ...groups.map(({ title, documents }) => ({
      text: title,
      items: documents.map(({ label, source }) => withItems(entryOf(label, source), childrenOf(source))),
    })),
    { text: 'Project', items: remaining.map(({ title, source }) => entryOf(title, source)) },
  ]
}

const entryOf = (text: string, source: string): Entry => ({ text, link: addressOf(pathOf(source)) })

const withItems = (entry: Entry, pages: Page[]): Entry =>
  pages.length > 0
    ? { ...entry, items: pages.map(({ title, source }) => entryOf(title, source)), collapsed: true }
    : entry
