/**
 * Builds the documentation site in .stack/site/dist.
 * Usage: `node tools/site/main.ts [--all] [--serve=PORT] [--base=/] [--source-url=URL] [--version=VERSION --out=FOLDER]`
 * `--all` also builds the site of each release. `--base` is the path of the site on its host. `--source-url` is the address of files on a code host,
 * for example https://github.com/me/orderflow/blob. With `--version` and `--out`, builds only the present sources, as that version.
 */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { reportError, repository, runTool } from '@orderflow/stack/base'
import { build, siteFolder } from './build.ts'
import { referencePages } from './reference/index.ts'
import { serve } from './serve.ts'
import { buildRelease, readReleases } from './versions.ts'

const { values } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    base: { type: 'string', default: '/' },
    serve: { type: 'string' },
    'source-url': { type: 'string' },
    version: { type: 'string' },
    out: { type: 'string' },
  },
})

const unreleased = 'unreleased'

async function main(): Promise<void> {
  const { all, base, 'source-url': sourceUrl, version, out, serve: port } = values
  if (version && out) return buildPresent({ version, base, out }, sourceUrl)
  const site = join(siteFolder, 'dist')
  rmSync(site, { recursive: true, force: true })
  mkdirSync(site, { recursive: true })
  const place = (name: string) => ({ version: name, base: `${base}${name}/`, out: join(site, name) })
  const sourcesAt = (commit: string) => sourceUrl && `${sourceUrl}/${commit}`

  const releases = all ? readReleases() : []
  for (const release of releases) {
    console.log(`building ${release.version}`)
    await buildRelease(release, place(release.version), sourcesAt(release.commit))
  }
  console.log('building the present sources')
  const head = await runTool('git', ['rev-parse', 'HEAD'], { cwd: repository })
  await buildPresent(place(unreleased), sourcesAt(head.trim()))

  const versions = [...releases.map(({ version }) => version), unreleased]
  const [newest = unreleased] = versions
  writeFileSync(join(site, 'versions.json'), JSON.stringify(versions))
  writeFileSync(join(site, 'index.html'), redirect(`${newest}/`))
  for (const file of ['404.html', 'llms.txt']) copyFileSync(join(site, newest, file), join(site, file))
  console.log(`the site is in ${site}`)
  if (!port) return
  await serve(site, Number(port))
  console.log(`http://localhost:${port}/ shows it; Ctrl-C ends the server`)
  await new Promise(() => {})
}

async function buildPresent(place: { version: string; base: string; out: string }, sourceUrl: string | undefined) {
  await build({ ...place, root: repository, generated: await referencePages(), sourceUrl })
}

const redirect = (path: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>orderflow</title><meta http-equiv="refresh" content="0; url=${path}"><a href="${path}">orderflow</a></html>\n`

try {
  await main()
  process.exit()
} catch (error) {
  reportError(error)
  process.exit(1)
}
