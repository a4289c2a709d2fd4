import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { repository } from '@orderflow/cli'

const elsewhere = ['node_modules', '.git', '.stack', '.release', 'dist']

/** All documents of the repository, by their paths from it. */
export function markdownFiles(): string[] {
  return globSync(['**/*.md', '.github/**/*.md'], {
    cwd: repository,
    exclude: (path) => elsewhere.includes(basename(path)),
  }).sort()
}

const fences = /^( *)```.*\n([\s\S]*?)^\1```$/gm
const spans = /`([^`\n]+)`/g

/** What links and pictures of a document lead to, as it stands there. */
export function linksIn(markdown: string): string[] {
  const prose = markdown.replace(fences, '').replace(spans, '')
  const links = [...prose.matchAll(/\]\(<?([^)\s>]+)/g), ...prose.matchAll(/\b(?:src|srcset|href)="([^"\s]+)/g)]
  return links.map(([, target = '']) => target)
}

/** The anchors of a document's headings, as GitHub makes them. */
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

/** The code of a document: its blocks, and what stands in backticks. */
function codeIn(markdown: string): string[] {
  const blocks = [...markdown.matchAll(fences)].map(([, , text = '']) => text)
  const inline = [...markdown.replace(fences, '').matchAll(spans)].map(([, text = '']) => text)
  return [...blocks, ...inline]
}

/** A target of make, and the folder of its Makefile. */
export interface MakeTarget {
  folder: string
  target: string
}

/** The targets of make that the code of a document names, except `release-...` and `TARGET`. */
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

/** The words behind each `./orderflow` that the code of a document names, up to the end of the command. */
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
