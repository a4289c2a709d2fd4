import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServiceParts } from '@orderflow/service-kit'

/** A file of the page, as it is answered. */
export interface PageFile {
  bytes: Buffer
  /** Compressed with Brotli, for browsers that say they take it; undefined for the page itself, which is small. */
  br?: Buffer | undefined
  /** Content-Type. */
  type: string
  etag: string
  /** `Cache-Control: public, max-age=31536000, immutable`, for its name follows from its content; else `no-cache`. */
  immutable: boolean
}

/** What the page may do, in a browser: nothing that is not its own. Its tests run under this. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Of the page's views, the first part of their paths; page/lib/route.ts reads the rest. */
const views = ['', 'index.html', 'c', 'e', 'id', 'dead', 'missing', 'publishers', 'schemas', 'health', 'audit']

/**
 * The page that `page/build.ts` made, read once.
 * @param folder `packages/event-monitor/dist` without
 * @returns what to answer to a path that is none of the API: a file, the page (200 for a view, 404 for what is none, with a view that
 * says so), or undefined for an asset that there is not. The page finds its files below the prefix of a proxy, or without one from where
 * its path is: the proxy may have stripped a prefix that is not known here
 * @throws {Error} when the page was not built
 */
export function readPage(folder = fileURLToPath(new URL('../dist', import.meta.url))) {
  const files = new Map(readManifest(folder).map((each) => [each.path, readFile(folder, each)]))
  const index = files.get('/index.html')
  files.delete('/index.html')
  if (!index) throw new Error(`${folder} holds no page: run packages/cli/node packages/event-monitor/page/build.ts`)
  return (path: string, prefix = ''): { status: 200 | 404; file: PageFile } | undefined => {
    const file = files.get(path)
    if (file) return { status: 200, file }
    if (path.startsWith('/assets/')) return undefined
    const [, view = '', ...deeper] = path.split('/')
    const root = prefix ? `${prefix}/` : '../'.repeat(deeper.length) || './'
    return { status: views.includes(view) ? 200 : 404, file: belowRoot(index, root) }
  }
}

/** The page, with its files found from this path. */
function belowRoot({ bytes, type, immutable }: PageFile, root: string): PageFile {
  const html = bytes.toString().replace(/(?<=\s(?:href|src)=")\//g, root)
  return { bytes: Buffer.from(html), type, etag: etagOf(html), immutable }
}

/** The entity tag of a file. */
export const etagOf = (content: string | Buffer): string =>
  `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`

type Entry = Pick<PageFile, 'type' | 'etag' | 'immutable'> & { path: string }

function readManifest(folder: string): Entry[] {
  try {
    return (JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as { files: Entry[] }).files
  } catch (cause) {
    throw new Error(`${folder} holds no page: run packages/cli/node packages/event-monitor/page/build.ts`, { cause })
  }
}

function readFile(folder: string, { path, type, etag, immutable }: Entry): PageFile {
  const bytes = readFileSync(join(folder, path))
  return { bytes, br: readFileSync(join(folder, `${path}.br`)), type, etag, immutable }
}

/** The page, where it was built; else the page of the operations is all there is. */
export function monitorPage(): Pick<ServiceParts, 'page'> {
  if (!existsSync(new URL('../dist/manifest.json', import.meta.url))) return {}
  return { page: { policy: pagePolicy, read: readPage() } }
}
