import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { markdownFiles } from '@orderflow/test/markdown'

/** A page of the site. */
export interface Page {
  /** The path of the page's file in the repository. For a generated page, the path is in `docs/reference/`, and the file does not exist. */
  source: string
  title: string
  /** The description in the table of documents, or an empty text. */
  description: string
  /** The Markdown text, whose links are relative to `source`. */
  text: string
}

/** An entry of the navigation, in the form that VitePress requires. */
export interface Entry {
  text: string
  link?: string
  items?: Entry[]
  collapsed?: boolean
}

/** The table of documents. It defines the groups of the navigation. */
const tableOfDocuments = 'docs/README.md'
const read = (file: string) => readFileSync(join(repository, file), 'utf8')

/** Returns the path of a page in the site. It only differs from that of the file for a README, the first page of a folder. */
export const pathOf = (source: string): string => source.replace(/README\.md$/, 'index.md')

const addressOf = (source: string) => `/${pathOf(source).replace(/(index)?\.md$/, '')}`

/** Returns the file to which a link in a file leads. Returns undefined for an address of another host. A folder with a README leads to that file. */
export function targetOf(source: string, link: string): string | undefined {
  if (/^[a-z]+:/.test(link)) return undefined
  const [path = ''] = link.split('#')
  const file = path === '' ? source : normalize(join(dirname(source), path)).replace(/\/$/, '')
  const readme = join(file, 'README.md')
  return existsSync(join(repository, readme)) ? readme : file
}

/** Returns the pages: all documents of the repository, except those for its contributors' programs and for new applications, and the generated pages. */
export function readPages(generated: readonly Page[]): Page[] {
  const described = new Map(rowsOf(read(tableOfDocuments)).map((row) => [row.source, row.description]))
  const sources = markdownFiles().filter((file) => !/^(\.github|AGENTS)|\/template\//.test(file))
  const documents = sources.map((source) => {
    const text = read(source)
    const title = plainText(/^# +(.+)$/m.exec(text)?.[1] ?? source)
    return { source, title, description: described.get(source) ?? '', text }
  })
  return [...documents, ...generated]
}

/**
 * Returns the navigation: the groups of the table of documents with the pages that each of them lists. A folder's other pages follow below its README.
 * Further groups have the pages from the code, and all remaining pages.
 */
export function navigation(pages: readonly Page[]): Entry[] {
  const groups = read(tableOfDocuments)
    .split(/^(?=## )/m)
    .map((part) => ({ title: /^##? +(.+)$/m.exec(part)?.[1] ?? '', rows: rowsOf(part) }))
    .filter(({ rows }) => rows.length > 0)
  const listed = groups.flatMap(({ rows }) => rows.map(({ source }) => source))
  const others = pages.filter(({ source }) => ![...listed, 'README.md'].includes(source))
  const isBelow = (readme: string, { source }: Page) =>
    readme.endsWith('/README.md') && readme !== tableOfDocuments && source.startsWith(`${dirname(readme)}/`)
  const isFromCode = ({ source }: Page) => /^(docs\/reference|tools\/packages\/signatures)\//.test(source)
  const remaining = others.filter((page) => !isFromCode(page) && !listed.some((readme) => isBelow(readme, page)))
  return [
    ...groups.map(({ title, rows }) => ({
      text: title,
      items: rows.map(({ label, source }) => {
        const items = others.filter((page) => isBelow(source, page)).map(entryOf)
        const entry = entryOf({ title: label, source })
        return items.length > 0 ? { ...entry, items, collapsed: true } : entry
      }),
    })),
    { text: 'From the code', items: others.filter(isFromCode).map(entryOf) },
    { text: 'Project', items: remaining.map(entryOf) },
  ]
}

const entryOf = ({ title, source }: Pick<Page, 'title' | 'source'>): Entry => ({
  text: title,
  link: addressOf(source),
})

/** Returns the rows of a table of documents. The first column may have several links, which share the description. */
function rowsOf(table: string): { label: string; source: string; description: string }[] {
  return [...table.matchAll(/^\| (\[.+?) \| (.+) \|$/gm)].flatMap(([, links = '', description = '']) =>
    [...links.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, label = '', link = '']) => ({
      label,
      source: targetOf(tableOfDocuments, link) ?? '',
      description: plainText(description),
    })),
  )
}

/** Returns a Markdown text without links, code marks and emphasis. */
export function plainText(markdown: string): string {
  return markdown.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]|\b_|_\b/g, '')
}
