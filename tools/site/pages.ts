import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { linksIn } from '@orderflow/test/markdown'

/** A page of the site. */
export interface Page {
  /** The path of the page's file in the repository. For a generated page, the path is in `docs/`, and the file does not exist. */
  source: string
  /** The path of the page in the site. It ends with `.md`. */
  path: string
  title: string
  /** The description in the table of documents, or an empty text. */
  description: string
  /** The Markdown text, whose links are relative to `source`. */
  text: string
}

/** A group of pages in the navigation, for example the tutorials. */
export interface Group {
  title: string
  documents: Row[]
}

/** The table of documents. It defines the groups of the navigation. */
export const tableOfDocuments = 'docs/README.md'

/** The pages whose path does not follow from their file: `security` is already the path of docs/security.md. */
const paths: Record<string, string> = {
  'README.md': 'index.md',
  [tableOfDocuments]: 'documents.md',
  'SECURITY.md': 'security-policy.md',
}

export function pathOf(source: string): string {
  const usual = source.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md')
  return paths[source] ?? usual.toLowerCase()
}

/** Returns the address of a page in the navigation, without the extension. */
export const addressOf = (path: string): string => `/${path.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')}`

/** Returns the file to which a link in a file leads, and its anchor. Returns undefined for an address of another host. */
export function targetOf(source: string, link: string): { file: string; anchor: string } | undefined {
  if (/^[a-z]+:/.test(link)) return undefined
  const [path = '', anchor = ''] = link.split('#')
  const file = path === '' ? source : normalize(join(dirname(source), path)).replace(/\/$/, '')
  return { file, anchor }
}

/**
 * Returns the pages of a checkout: README.md, and all Markdown files that it leads to, through other files.
 * @param generated pages, which the table of documents leaves out
 */
export function readPages(root: string, generated: readonly Page[] = []): Page[] {
  const table = withRows(readFileSync(join(root, tableOfDocuments), 'utf8'), generated)
  const pages = new Map(generated.map((page) => [page.source, page]))
  const sources = new Set(['README.md', ...pages.keys()])
  // The loop also visits the files that it adds.
  for (const source of sources) {
    const text =
      source === tableOfDocuments ? table : (pages.get(source)?.text ?? readFileSync(join(root, source), 'utf8'))
    pages.set(source, pages.get(source) ?? pageOf(source, text, table))
    for (const link of linksIn(text)) {
      const file = targetOf(source, link)?.file ?? ''
      const document = [file, join(file, 'README.md')].find(
        (path) => path.endsWith('.md') && existsSync(join(root, path)),
      )
      if (document) sources.add(document)
    }
  }
  return [...pages.values()]
}

function pageOf(source: string, text: string, table: string): Page {
  const title = plainText(/^# +(.+)$/m.exec(text)?.[1] ?? source)
  const description = rowsOf(table).find((row) => row.source === source)?.description ?? ''
  return { source, path: pathOf(source), title, description, text }
}

/** Returns the groups of the table of documents: each heading with the documents in the first column of its table. Tables without a heading belong to the title. */
export function groupsOf(table: string): Group[] {
  return table
    .split(/^(?=## )/m)
    .map((part) => ({
      title: /^##? +(.+)$/m.exec(part)?.[1] ?? '',
      documents: rowsOf(part),
    }))
    .filter(({ documents }) => documents.length > 0)
}

/** A document in the table of documents. */
interface Row {
  label: string
  source: string
  description: string
}

/** Returns the documents of a table. The first column may have several links, which share the description. */
function rowsOf(table: string): Row[] {
  return [...table.matchAll(/^\| (\[.+?) \| (.+) \|$/gm)].flatMap(([, links = '', description = '']) =>
    [...links.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, label = '', link = '']) => ({
      label,
      source: targetOf(tableOfDocuments, link)?.file ?? '',
      description: plainText(description),
    })),
  )
}

/** Adds the generated pages to the first table below the heading of references. Returns the text unchanged if it has no such heading. */
export function withRows(table: string, generated: readonly Page[]): string {
  const rows = generated.map(
    ({ source, title, description }) => `| [${title}](${source.slice('docs/'.length)}) | ${description} |\n`,
  )
  return table.replace(/^(## Reference\n\n.*\n.*\n)/m, (heading) => heading + rows.join(''))
}

/** Returns a Markdown text without links, code marks and emphasis. */
export function plainText(markdown: string): string {
  return markdown.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]|\b_|_\b/g, '')
}
