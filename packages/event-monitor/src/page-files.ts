import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServiceParts, SiteFile } from '@orderflow/service-kit'

/** The security policy, which allows only the page's own files. */
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

/** First segments of the paths of views; page/lib/route.ts parses the other segments. */
const views = ['', 'index.html', 'c', 'e', 'id', 'dead', 'missing', 'publishers', 'schemas', 'health', 'audit']

/**
 * Reads the page that `page/build.ts` has built.
 * @param folder default: `packages/event-monitor/dist`
 * @returns a function that returns the file of a path. An unknown path gets the page with status 404. Links in the page
 * begin with the proxy's prefix; without a prefix, they are relative to the path
 * @throws {Error} if the page was not built
 */
export function readPage(folder = fileURLToPath(new URL('../dist', import.meta.url))) {
  const files = new Map(readManifest(folder).map((each) => [each.path, readFile(folder, each)]))
  const index = files.get('/index.html')
  files.delete('/index.html')
  if (!index) throw new Error(`${folder} contains no page: run packages/cli/node packages/event-monitor/page/build.ts`)
  return (path: string, prefix = ''): { status: 200 | 404; file: SiteFile } | undefined => {
    const file = files.get(path)
    if (file) return { status: 200, file }
    if (path.startsWith('/assets/')) return undefined
    const [, view = '', ...deeper] = path.split('/')
    const root = prefix ? `${prefix}/` : '../'.repeat(deeper.length) || './'
    return { status: views.includes(view) ? 200 : 404, file: belowRoot(index, root) }
  }
}

function belowRoot({ bytes, type, immutable }: SiteFile, root: string): SiteFile {
  const html = bytes.toString().replace(/(?<=\s(?:href|src)=")\//g, root)
  return { bytes: Buffer.from(html), type, etag: etagOf(html), immutable }
}

export const etagOf = (content: string | Buffer): string =>
  `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`

export interface ManifestEntry extends Pick<SiteFile, 'type' | 'etag' | 'immutable'> {
  /** Request path, such as `/assets/main-ABCD1234.js`. */
  path: string
}

function readManifest(folder: string): ManifestEntry[] {
  try {
    return (JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as { files: ManifestEntry[] }).files
  } catch (cause) {
    throw new Error(`${folder} contains no page: run packages/cli/node packages/event-monitor/page/build.ts`, { cause })
  }
}

function readFile(folder: string, { path, type, etag, immutable }: ManifestEntry): SiteFile {
  const bytes = readFileSync(join(folder, path))
  return { bytes, br: readFileSync(join(folder, `${path}.br`)), type, etag, immutable }
}

/** Returns the page if it was built. Otherwise the service has only its API page. */
export function monitorPage(): Pick<ServiceParts, 'page'> {
  if (!existsSync(new URL('../dist/manifest.json', import.meta.url))) return {}
  return { page: { policy: pagePolicy, read: readPage() } }
}
