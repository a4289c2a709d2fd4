import { createHash } from 'node:crypto'
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, repository, runTool } from '@orderflow/stack/base'
import { build, type Place, siteFolder } from './build.ts'

export interface Release {
  version: string
  commit: string
}

/** Returns the releases of releases.json, newest first. */
export function readReleases(): Release[] {
  const releases = JSON.parse(readFileSync(join(repository, 'releases.json'), 'utf8')) as Release[]
  return releases.reverse()
}

/**
 * Builds the site of a release, or copies it from the cache. A release that has this program builds its own site, with a generated reference. For
 * earlier releases, this program builds a site of their documents.
 * @param place the place of the version in the site
 * @param sourceUrl the address of the release's files on a code host
 */
export async function buildRelease({ commit }: Release, place: Place, sourceUrl: string | undefined): Promise<void> {
  const key = createHash('sha256').update(JSON.stringify([commit, place.base, sourceUrl, ownFiles()]))
  const cached = join(cacheFolder(), 'sites', `${place.version}-${key.digest('hex').slice(0, 12)}`)
  if (!existsSync(cached)) {
    const root = await checkout(commit)
    const partial = `${cached}.${process.pid}`
    rmSync(partial, { recursive: true, force: true })
    const partialPlace = { ...place, out: partial }
    if (existsSync(join(root, 'tools/site/main.ts'))) await buildInside(root, partialPlace, sourceUrl)
    else await build({ ...partialPlace, root, generated: [], sourceUrl })
    renameSync(partial, cached)
    rmSync(root, { recursive: true })
  }
  cpSync(cached, place.out, { recursive: true })
}

/** Returns the content of this program, because the sites of early releases depend on it. */
const ownFiles = () =>
  globSync('{*.ts,vitepress/**/*.{ts,css,json}}', { cwd: import.meta.dirname })
    .sort()
    .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))

async function checkout(commit: string): Promise<string> {
  mkdirSync(siteFolder, { recursive: true })
  const folder = mkdtempSync(join(siteFolder, 'release-'))
  const archive = join(folder, 'release.tar')
  await runTool('git', ['archive', '--output', archive, commit], { cwd: repository })
  await runTool('tar', ['-xf', archive], { cwd: folder })
  return folder
}

/** Runs the program of a release, which also installs the npm packages of the release. */
async function buildInside(root: string, { version, base, out }: Place, sourceUrl: string | undefined): Promise<void> {
  const options = [
    `--version=${version}`,
    `--base=${base}`,
    `--out=${out}`,
    ...(sourceUrl ? [`--source-url=${sourceUrl}`] : []),
  ]
  await runTool('packages/cli/node', ['tools/site/main.ts', ...options], { cwd: root })
}
