import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { etagOf, type ManifestEntry } from '../src/page-files.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const dist = join(here, '../dist')
const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.html': 'text/html; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
}

/** The content of `dist/manifest.json`, which `src/page-files.ts` reads. */
export interface Manifest {
  files: ManifestEntry[]
  /** Files that a browser needs to show `/`. */
  firstView: string[]
}

/**
 * Bundles the page. The same source results in the same bytes.
 * @throws {Error} if the source has errors
 */
export async function bundlePage(): Promise<{ files: Map<string, Buffer>; firstView: string[] }> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: here.replace(/\/$/, ''),
    entryPoints: ['main.tsx', 'theme.ts', 'live-worker.ts', 'styles/main.css', 'icon.svg'],
    outdir: dist,
    entryNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    loader: { '.svg': 'copy' },
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  const files = new Map(outputFiles.map(({ path, contents }) => [path.slice(dist.length), Buffer.from(contents)]))
  const { entry, live } = namesIn(metafile)
  const firstView = [...new Set([entry('theme.ts'), entry('styles/main.css'), ...loadedBy(metafile, live)])]
  files.set('/licenses.txt', Buffer.from(licensesOf(metafile)))
  files.set('/index.html', Buffer.from(html(entry, firstView)))
  return { files, firstView: ['/index.html', entry('icon.svg'), ...firstView] }
}

/**
 * Writes the bundled files, compressed copies and a manifest.
 * @param folder the folder to replace; default: `packages/event-monitor/dist`
 */
export async function buildPage(folder = dist): Promise<Manifest> {
  const { files, firstView } = await bundlePage()
  // Writes to a new folder, because the old files may be in use.
  const fresh = `${folder}.${process.pid}`
  mkdirSync(join(fresh, 'assets'), { recursive: true })
  for (const [path, bytes] of files) {
    writeFileSync(join(fresh, path), bytes)
    writeFileSync(join(fresh, `${path}.br`), compressed(bytes))
  }
  const manifest = {
    files: [...files].map(([path, bytes]) => ({
      path,
      type: types[extname(path)] ?? 'application/octet-stream',
      etag: etagOf(bytes),
      immutable: path.startsWith('/assets/'),
    })),
    firstView,
  }
  writeFileSync(join(fresh, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  replaceFolder(folder, fresh)
  return manifest
}

/** Replaces a folder, even if another build creates the same folder at this moment. */
function replaceFolder(folder: string, fresh: string): void {
  for (;;) {
    rmSync(folder, { recursive: true, force: true })
    try {
      renameSync(fresh, folder)
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
    }
  }
}

function compressed(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } })
}

const pathOf = (output: string) => join(here, output).slice(dist.length)

function namesIn({ outputs }: Metafile) {
  const outputOf = (source: string) => {
    const match = Object.entries(outputs).find(
      ([output, { entryPoint, inputs }]) =>
        entryPoint === source || (extname(output) === '.svg' && Object.hasOwn(inputs, source)),
    )
    if (!match) throw new Error(`esbuild wrote no file for ${source}`)
    return match[0]
  }
  return {
    entry: (source: string) => pathOf(outputOf(source)),
    live: [outputOf('main.tsx'), outputOf('views/live/live.tsx'), outputOf('parts/strip-chart.ts')],
  }
}

function loadedBy({ outputs }: Metafile, entries: string[]): string[] {
  const visited = new Set<string>()
  const follow = (output: string): void => {
    if (visited.has(output)) return
    visited.add(output)
    for (const { path, kind } of outputs[output]?.imports ?? []) if (kind === 'import-statement') follow(path)
  }
  for (const entry of entries) follow(entry)
  return [...visited].map(pathOf)
}

function html(entry: (source: string) => string, firstView: string[]): string {
  const preloads = firstView
    .filter((path) => path.endsWith('.js') && ![entry('main.tsx'), entry('theme.ts')].includes(path))
    .map((path) => `<link rel="modulepreload" href="${path}">\n`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Event monitor</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="Shows the events of this application, and edits and replays failed events">
<link rel="icon" href="${entry('icon.svg')}">
<link rel="live-worker" href="${entry('live-worker.ts')}">
<script src="${entry('theme.ts')}"></script>
<link rel="stylesheet" href="${entry('styles/main.css')}">
${preloads.join('')}<script type="module" src="${entry('main.tsx')}"></script>
</head>
<body>
<div id="page"><p class="starting">Event monitor is starting…</p></div>
<noscript><p class="starting">This page needs JavaScript. You can also use <code>make dead-letters</code>, <code>make status</code> or the API at /v1.</p></noscript>
</body>
</html>
`
}

/** Returns the licenses of bundled packages, which must be distributed with the page. */
function licensesOf({ inputs }: Metafile): string {
  const roots = Object.keys(inputs).map((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0])
  const folders = [...new Set(roots.filter((root) => root !== undefined))].map((root) => join(here, root)).sort()
  return folders
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
      const text = file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8').trim() : license
      return `${name} ${version} (${license})\n\n${text}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}

if (import.meta.main) {
  const { files } = await buildPage()
  console.log(`packages/event-monitor/dist: ${files.length} files`)
}
