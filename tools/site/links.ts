import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type Page, pathOf, targetOf } from './pages.ts'

/** The pictures and films of documents. The site has a copy of each one that a page shows. */
const picture = /\.(png|webp|svg|mp4)$/

export interface Linked {
  /** The page with links to paths of the site. */
  text: string
  /** The files in the repository that the page shows. */
  pictures: string[]
}

export interface LinkOptions {
  root: string
  pages: ReadonlyMap<string, Page>
  /** The address at which a code host shows the files of this version; undefined if it has none. */
  sourceUrl?: string | undefined
}

/**
 * Changes the links of a page from files of the repository to paths of the site. A link to a file that is no page leads to the code host. Without a
 * code host, only the path of the file remains.
 * @throws {Error} if a link leads to a missing file
 */
export function linked(page: Page, options: LinkOptions): Linked {
  const pictures = new Set<string>()
  const changed = outsideOfCode(page.text, (prose) =>
    prose
      .replaceAll(filmLink, '<video controls preload="none" aria-label="$1" poster="$2" src="$3"></video>')
      .replaceAll(markdownLink, (whole, mark: string, label: string, link: string) => {
        const target = resolve(page, link, options)
        if (target === undefined) return whole
        if ('picture' in target) pictures.add(target.picture)
        if ('address' in target) return `${mark}[${label}](${target.address})`
        return label.includes('\ue000') ? label : `${label} (\`${target.file}\`)`
      })
      .replaceAll(htmlLink, (whole, name: string, link: string) => {
        const target = resolve(page, link, options)
        if (target === undefined || !('address' in target)) return whole
        if ('picture' in target) pictures.add(target.picture)
        return `${name}="${target.address}"`
      }),
  )
  return { text: changed, pictures: [...pictures] }
}

/** A picture that leads to a film. The site shows the film in its place. */
const filmLink = /\[!\[([^\]]*)\]\(([^)\s]+)\)\]\(([^)\s]+\.mp4)\)/g
const markdownLink = /(!?)\[((?:[^[\]]|\[[^[\]]*\](?:\([^)]*\))?)*)\]\(<?([^)\s>]+)>?\)/g
const htmlLink = /\b(src|srcset|href|poster)="([^"\s]+)"/g

type Target = { address: string } | { address: string; picture: string } | { file: string }

function resolve(page: Page, link: string, { root, pages, sourceUrl }: LinkOptions): Target | undefined {
  const target = targetOf(page.source, link)
  if (!target) return undefined
  const { file, anchor } = target
  const hash = anchor ? `#${anchor}` : ''
  const found = pages.get(file) ?? pages.get(join(file, 'README.md'))
  if (found === page && hash) return { address: hash }
  if (found) return { address: addressFrom(page, found.path) + hash }
  if (!existsSync(join(root, file))) throw new Error(`${page.source} links to ${link}, which does not exist`)
  if (picture.test(file)) return { address: addressFrom(page, pathOf(file)), picture: file }
  return sourceUrl ? { address: `${sourceUrl}/${file}${hash}` } : { file }
}

function addressFrom({ path }: Page, target: string): string {
  const address = relative(dirname(path), target)
  return address.startsWith('.') ? address : `./${address}`
}

/** Calls `change` with the text, in which marks replace all code. Returns the result with its code. The marks contain U+E000, a character without a meaning. */
function outsideOfCode(markdown: string, change: (prose: string) => string): string {
  const code: string[] = []
  const prose = markdown.replaceAll(/^( *)(`{3,}).*\n[\s\S]*?^\1\2$|(`+)(?!`).+?(?<!`)\3(?!`)/gm, (found) => {
    code.push(found)
    return `\ue000${code.length - 1}\ue000`
  })
  return change(prose).replaceAll(/\ue000(\d+)\ue000/g, (_, index: string) => code[Number(index)] ?? '')
}
