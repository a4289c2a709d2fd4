import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { expect } from 'chai'
import { buildPage, bundlePage, type Manifest } from '../../page/build.ts'
import { pagePolicy, readPage } from '../../src/page-files.ts'

describe('the page bundle', () => {
  let folder = ''
  let manifest: Manifest
  const read = (path: string) => readFileSync(join(folder, path))
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'page-'))
    manifest = await buildPage(folder)
  })
  after(() => rmSync(folder, { recursive: true }))

  it('needs at most 60 KiB of compressed files for the first view, without the editor', () => {
    const bytes = manifest.firstView.reduce((sum, path) => sum + read(`${path}.br`).length, 0)
    expect(bytes).to.be.within(20_000, 60 * 1024)
    expect(manifest.firstView.some((path) => path.includes('code-editor'))).to.equal(false)
    expect(manifest.firstView.filter((path) => /strip-chart|live|main/.test(path))).to.have.length(4)
  })

  it('builds the same files from the same source', async () => {
    const { files, firstView } = await bundlePage()
    expect(firstView).to.deep.equal(manifest.firstView)
    expect([...files.keys()]).to.deep.equal(manifest.files.map(({ path }) => path))
    for (const [path, bytes] of files) expect(read(path).equals(bytes), path).to.equal(true)
  })

  it('contains a compressed copy of each file, and lists the files in the manifest', () => {
    for (const { path } of manifest.files)
      expect(brotliDecompressSync(read(`${path}.br`)).equals(read(path)), path).to.equal(true)
    const written = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => /\.\w+$/.test(name) && !name.endsWith('.br'),
    )
    expect(written.map((name) => `/${name}`)).to.have.members([
      ...manifest.files.map(({ path }) => path),
      '/manifest.json',
    ])
  })

  it('names assets by their content, so that browsers can keep them forever, and does not cache the page', () => {
    const kept = manifest.files.filter(({ immutable }) => immutable)
    for (const { path } of kept) expect(path).to.match(/^\/assets\/[\w-]+-[A-Z0-9]{8}\.(js|css|svg)$/)
    expect(manifest.files.filter(({ immutable }) => !immutable).map(({ path }) => path)).to.have.members([
      '/index.html',
      '/licenses.txt',
    ])
  })

  it('follows the security policy: scripts and styles are files of the monitor’s own host', () => {
    const html = String(read('/index.html'))
    expect(html).not.to.match(/<script(?![^>]* src=)|<style|style=|\son\w+=|https?:/)
    expect(pagePolicy).not.to.match(/unsafe|https?:|\*/)
    for (const { path } of manifest.files.filter((each) => each.path.endsWith('.css'))) {
      expect(String(read(path))).not.to.match(/url\(|@import/)
    }
  })

  it('contains no names of this project, so that it fits any application', () => {
    expect(String(read('/index.html'))).not.to.contain('orderflow')
  })

  it('includes the licenses of bundled packages', () => {
    const licenses = String(read('/licenses.txt'))
    const page = join(import.meta.dirname, '../../page')
    const texts = globSync('**/*.{ts,tsx}', { cwd: page, exclude: ['build.ts', 'screenshots.ts'] }).map((file) =>
      readFileSync(join(page, file), 'utf8'),
    )
    const imported = texts.flatMap((text) => [
      ...text.matchAll(/^(?:import (?!type )|\} )[^'\n]*'((?:@[^/'\n]+\/)?[^./'\n][^/'\n]*)/gm),
    ])
    const names = new Set(imported.map(([, name = '']) => name).filter((name) => !name.startsWith('@orderflow/')))
    expect(names).to.include.keys('preact', '@preact/signals', 'uplot', '@codemirror/view')
    // The other packages are dependencies of imported packages.
    for (const name of [...names, '@preact/signals-core', '@lezer/lr', 'style-mod']) {
      expect(licenses).to.match(new RegExp(`^${name} \\d`, 'm'))
    }
  })

  it('serves existing assets, and the page for every path, with status 404 for unknown paths', () => {
    const answer = readPage(folder)
    for (const path of [
      '/',
      '/c/1',
      '/e/orderevents/0/1',
      '/id/1',
      '/dead',
      '/dead/1',
      '/missing',
      '/health',
      '/audit',
    ]) {
      expect(answer(path)?.status, path).to.equal(200)
      expect(answer(path)?.file.type).to.equal('text/html; charset=utf-8')
    }
    expect(answer('/nowhere')).to.include({ status: 404 })
    expect(answer('/index.html')).to.include({ status: 200 })
    expect(answer('/assets/none.js')).to.equal(undefined)
    const script = manifest.firstView.find((path) => path.endsWith('.js')) ?? ''
    expect(answer(script)?.file).to.include({ type: 'text/javascript; charset=utf-8', immutable: true })
  })

  it('links assets correctly from each path, also below the path prefix of a proxy', () => {
    const answer = readPage(folder)
    const filesOf = (path: string, prefix?: string) => {
      const { file } = answer(path, prefix) ?? {}
      const links = String(file?.bytes).matchAll(/(?:href|src)="([^"]+)"/g)
      return new Set(Array.from(links, ([, link = '']) => new URL(link, `https://shop.example/a/b${path}`).pathname))
    }
    const assets = filesOf('/', '/a/b')
    expect(assets.size).to.be.above(3)
    for (const asset of assets) expect(answer(asset.replace('/a/b', '')), asset).to.include({ status: 200 })
    for (const path of ['/', '/index.html', '/dead', '/dead/1', '/e/orderevents/0/1', '/nowhere/at/all/'])
      expect(filesOf(path), path).to.deep.equal(assets)
    // The proxy's prefix may have no slash at its end.
    expect(filesOf('', '/a/b')).to.deep.equal(assets)
    expect(answer('/')?.file.etag).not.to.equal(answer('/dead/1')?.file.etag)
  })

  it('reports a missing build, with the command that builds the page', () => {
    expect(() => readPage(join(folder, 'none'))).to.throw('run packages/cli/node packages/event-monitor/page/build.ts')
  })
})
