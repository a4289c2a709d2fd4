import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { repository } from '@orderflow/stack/base'

const elsewhere = ['node_modules', '.git', '.stack', '.release', 'dist']

export function markdownFiles(): string[] {
  return globSync(['**/*.md', '.github/**/*.md'], {
    cwd: repository,
    exclude: (path) => elsewhere.includes(basename(path)),
  }).sort()
}

const fences = /^( *)```.*\n([\s\S]*?)^\1```$/gm
const spans = /`([^`\n]+)`/g

export function linksIn(markdown: string): string[] {
  const prose = markdown.replace(fences, '').replace(spans, '')
  const links = [...prose.matchAll(/\]\(<?([^)\s>]+)/g), ...prose.matchAll(/\b(?:src|srcset|href)="([^"\s]+)/g)]
  return links.map(([, target = '']) => target)
}

/** Returns the anchors of a document’s headings, as GitHub creates them. */
export function anchorsOf(markdown: string): string[] {
  const headings = markdown.replace(fences, '').matchAll(/^#{1,6} +(.+)$/gm)
  return [...headings].map(([, heading = '']) =>
    heading
      .replace(/\]\([^)]*\)/g, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** Returns the code of a document: its blocks and code spans. */
function codeIn(markdown: string): string[] {
  const blocks = [...markdown.matchAll(fences)].map(([, , text = '']) => text)
  const inline = [...markdown.replace(fences, '').matchAll(spans)].map(([, text = '']) => text)
  return [...blocks, ...inline]
}

/** Counts the words outside of code blocks, as `wc -w` does: everything between spaces is a word, also a column’s border in a table. */
export const wordsIn = (markdown: string): number => markdown.replace(fences, '').split(/\s+/).filter(Boolean).length

export interface MakeTarget {
  folder: string
  target: string
}

/** Returns the targets of make in the code of a document, except `release-...` and `TARGET`. */
export function makeTargetsIn(markdown: string): MakeTarget[] {
  return codeIn(markdown).flatMap((code) =>
    [...code.matchAll(/(?:^|[\s$;&|(])make (?:-C ([\w./-]+) )?((?:[a-z][a-z-]* ?)+)/g)].flatMap(
      ([, folder = '.', targets = '']) =>
        targets
          .split(' ')
          .filter((target) => /[a-z]$/.test(target))
          .map((target) => ({ folder, target })),
    ),
  )
}

/** Returns the words after each `./orderflow` in the code of a document, up to the end of the command. */
export function orderflowCommandsIn(markdown: string): string[][] {
  return codeIn(markdown).flatMap((code) =>
    [...code.replaceAll('\\\n', ' ').matchAll(/(?:^|[\s$;&|(])\.\/orderflow(?: +([^\n;&|)#]*))?/g)].map(
      ([, words = '']) =>
        words
          .replaceAll(/"[^"]*"|'[^']*'/g, 'TEXT')
          .split(/\s+/)
          .filter(Boolean),
    ),
  )
}
