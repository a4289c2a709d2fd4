import { cpSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CliError, localFolder, repository, runTool } from '@orderflow/stack/base'
import { npmTools } from '@orderflow/test/npm-tools'
import { linked } from './links.ts'
import { llmsText } from './llms.ts'
import { navigation, pathOf, readPages } from './pages.ts'
import { referencePages } from './reference/index.ts'

const folder = join(localFolder, 'site')
const stage = join(folder, 'stage')
const vitepress = join(import.meta.dirname, 'vitepress')

/** The folder of the built site. Git ignores it. */
export const siteFolder = join(folder, 'dist')

export interface BuildOptions {
  /** The path of the site on its host, such as `/orderflow/`. */
  base: string
  /** The address of the commit's files on a code host; undefined if it has none. */
  sourceUrl?: string | undefined
}

/**
 * Builds the site in `siteFolder`.
 * @throws {CliError} `provision-failed` for a dead link, or a page that VitePress cannot render
 */
export async function build({ base, sourceUrl }: BuildOptions): Promise<void> {
  const modules = await npmTools('site', vitepress, 'VitePress: downloading 30 MB')
  const pages = readPages(await referencePages())
  const sources = new Set(pages.map(({ source }) => source))
  const sidebar = navigation(pages)
  const releases = readFileSync(join(repository, 'releases.json'), 'utf8')
  const last = (JSON.parse(releases) as { version: string; commit: string }[]).at(-1)

  rmSync(folder, { recursive: true, force: true })
  for (const page of pages) write(pathOf(page.source), linked(page, sources, sourceUrl))
  for (const picture of globSync('docs/**/*.{png,webp,svg,mp4}', { cwd: repository }))
    cpSync(join(repository, picture), join(stage, picture))
  cpSync(vitepress, join(stage, '.vitepress'), { recursive: true })
  const release = sourceUrl &&
    last && { text: `Documents of ${last.version}`, link: `${dirname(sourceUrl)}/${last.commit}/docs/README.md` }
  write('.vitepress/site.json', JSON.stringify({ base, sidebar, release }))
  symlinkSync(modules, join(stage, 'node_modules'))
  const lines: string[] = []
  const program = join(modules, 'vitepress/bin/vitepress.js')
  const onLine = (line: string) => lines.push(line)
  await runTool(process.execPath, [program, 'build', stage, '--outDir', siteFolder], { cwd: stage, onLine })
  // VitePress succeeds even if it could not render a page.
  if (lines.some((line) => /^\w*Error: /.test(line))) {
    throw new CliError('provision-failed', `a page cannot be rendered:\n${lines.join('\n')}`, {
      nextStep: 'correct the page that the first error names',
    })
  }
  writeFileSync(join(siteFolder, 'llms.txt'), llmsText(pages, sidebar, base))
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(stage, path)), { recursive: true })
  writeFileSync(join(stage, path), text)
}
