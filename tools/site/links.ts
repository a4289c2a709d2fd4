import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { type Page, pathOf, targetOf } from './pages.ts'

/** A picture that leads to a film. The site shows the film in its place. */
const filmLink = /\[!\[([^\]]*)\]\(([^)\s]+)\)\]\(([^)\s]+\.mp4)\)/g
const markdownLink = /(?<!!)\[((?:[^[\]]|\[[^[\]]*\](?:\([^)]*\))?)*)\]\(<?([^)\s>]+)>?\)/g

/**
 * Returns a page whose links lead to the site. A link to a file that is no page leads to the code host. Without a code host, only the path of the file
 * remains.
 * @param sourceUrl the address of the files on a code host; undefined if it has none
 * @throws {Error} if a link leads to a missing file
 */
export function linked({ source, text }: Page, pages: ReadonlySet<string>, sourceUrl?: string): string {
  return outsideOfCode(text, (prose) =>
    prose
      .replaceAll(filmLink, '<video controls preload="none" aria-label="$1" poster="./$2" src="./$3"></video>')
      .replaceAll(/\b(src|srcset)="(?=pictures|docs)/g, '$1="./')
      .replaceAll(markdownLink, (whole, label: string, link: string) => {
        const file = targetOf(source, link)
        if (file === undefined || link.startsWith('#')) return whole
        const anchor = /#.*/.exec(link)?.[0] ?? ''
        if (pages.has(file)) return `[${label}](/${pathOf(file)}${anchor})`
        if (!existsSync(join(repository, file))) throw new Error(`${source} links to ${link}, which does not exist`)
        if (sourceUrl) return `[${label}](${sourceUrl}/${file}${anchor})`
        return label.includes('\ue000') ? label : `${label} (\`${file}\`)`
      }),
  )
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
