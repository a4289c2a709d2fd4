import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CliError, localFolder, runTool } from '@orderflow/stack/base'
import { npmTools } from '@orderflow/test/npm-tools'
import { llmsText } from './llms.ts'
import { navigation } from './navigation.ts'
import { type Page, readPages, tableOfDocuments } from './pages.ts'
import { stage } from './stage.ts'

/** The folder of everything that the program writes. Git ignores it. */
export const siteFolder = join(localFolder, 'site')

/** The place of a version in the site. */
export interface Place {
  version: string
  /** The address of the version on its host, such as `/0.2.0/`. */
  base: string
  /** The folder to write. */
  out: string
}

export interface Build extends Place {
  /** The checkout with the documents. */
  root: string
  generated: readonly Page[]
  /** The address of the checkout's files on a code host; undefined if it has none. */
  sourceUrl?: string | undefined
}

/**
 * Builds the site of one version.
 * @throws {CliError} `provision-failed` for a dead link, or a page that VitePress cannot render
 */
export async function build({ root, generated, out, ...site }: Build): Promise<void> {
  const modules = await npmTools('site', join(import.meta.dirname, 'vitepress'), 'VitePress: downloading 30 MB')
  const pages = readPages(root, generated)
  const groups = navigation(pages, readFileSync(join(root, tableOfDocuments), 'utf8'), generated)
  const folder = join(siteFolder, `stage-${site.version}`)
  stage({ folder, root, pages, groups, modules, ...site })
  const lines: string[] = []
  const program = join(modules, 'vitepress/bin/vitepress.js')
  const onLine = (line: string) => lines.push(line)
  await runTool(process.execPath, [program, 'build', folder, '--outDir', out], { cwd: folder, onLine })
  // VitePress succeeds even if it could not render a page.
  if (lines.some((line) => /^\w*Error: /.test(line))) {
    throw new CliError('provision-failed', `a page cannot be rendered:\n${lines.join('\n')}`, {
      nextStep: 'correct the page that the first error names',
    })
  }
  writeFileSync(join(out, 'llms.txt'), llmsText(pages, groups, site.base))
}
