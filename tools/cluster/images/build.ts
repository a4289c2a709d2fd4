import { createHash } from 'node:crypto'
import { linkSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { cacheFolder, reportError } from '@orderflow/stack/base'
import { withLock } from '@orderflow/stack/internals'
import { docker, ensureImages, images } from '@orderflow/stack/machine'
import { archivesFolder, indexFile, readArchives } from './archives.ts'
import { fileOf, fullName, ownImages, type ProgramImage, programImageOf } from './names.ts'

// The program `build.ts SOURCES NAME...` writes the archives of images. It builds our own images from the folder SOURCES. archives.ts starts it in an
// environment where `docker` is Podman.

const lockTimeoutMs = 60 * 60_000
const label = 'orderflow.recipe'
const recipe = join(import.meta.dirname, 'program')
/** The images on which the others are based, in the order of their recipes. */
const bases = [images.base, images.node]
const onProgress = (line: string) => console.log(line)
const [sources = '.', ...names] = process.argv.slice(2)

try {
  for (const name of names) {
    const onWait = (pid: number) => onProgress(`${name}: waiting for process ${pid}, which builds images`)
    await withLock(join(cacheFolder(), 'podman.lock'), { timeoutMs: lockTimeoutMs, onWait }, () => write(name))
  }
} catch (error) {
  reportError(error)
}

/** Builds an image, unless it is current, and writes its archive. */
async function write(name: string): Promise<void> {
  const image = programImageOf(name)
  const own = ownImages[name.split(':')[0] ?? '']
  if (image) await buildProgramImage(image)
  else if (own) await buildOwnImage(name, own)
  else await ensureImages({ onProgress }, [...bases, name])
  await save(name, image?.names ?? [name])
}

/** Builds an image with one program, unless its version and its recipe are unchanged. */
async function buildProgramImage(image: ProgramImage): Promise<void> {
  const [name = '', ...others] = image.names
  const file = fileOf(image)
  const hash = createHash('sha256').update(
    JSON.stringify([image, file, readFileSync(join(recipe, 'Dockerfile'), 'utf8')]),
  )
  const digest = hash.digest('hex').slice(0, 16)
  const known = await docker('image', 'inspect', '--format', `{{index .Config.Labels "${label}"}}`, name).catch(
    () => '',
  )
  if (known.trim() === digest) return
  // This folder is on the disk of the programs, so links can replace copies.
  const context = mkdtempSync(join(cacheFolder(), 'image-'))
  try {
    const root = join(context, 'root')
    mkdirSync(join(root, 'tmp'), { recursive: true, mode: 0o1777 })
    linkSync(file, join(root, 'program'))
    for (const link of image.links ?? []) symlinkSync('program', join(root, link))
    const tags = [name, ...others].flatMap((each) => ['--tag', each])
    const args = [
      '--label',
      `${label}=${digest}`,
      '--build-arg',
      `USER=${image.user}`,
      '--file',
      join(recipe, 'Dockerfile'),
    ]
    // biome-ignore lint/plugin/no-spread-arguments: some twenty arguments
    await docker('build', '--quiet', ...tags, ...args, context)
    onProgress(`${name}: built`)
  } finally {
    rmSync(context, { recursive: true })
  }
}

/** Builds an image of our own. Podman keeps the layers of unchanged files. */
async function buildOwnImage(name: string, { service, target }: { service: string; target: string }): Promise<void> {
  await ensureImages({ onProgress }, bases)
  await docker(
    'build',
    '--quiet',
    '--layers',
    '--target',
    target,
    '--build-arg',
    `SERVICE=${service}`,
    '--tag',
    name,
    sources,
  )
}

/** Writes the archive of an image, unless it exists. */
async function save(name: string, names: string[]): Promise<void> {
  const id = (await docker('image', 'inspect', '--format', '{{.Id}}', name)).trim()
  const archives = readArchives()
  const file = join(archivesFolder(), `${basename(fullName(name)).replace(':', '-')}.tar`)
  if (archives[name]?.id === id && archives[name].file === file) return
  mkdirSync(archivesFolder(), { recursive: true })
  const full = names.map(fullName)
  for (const each of full) await docker('tag', name, each)
  rmSync(`${file}.partial`, { force: true })
  // biome-ignore lint/plugin/no-spread-arguments: at most five names
  await docker('save', '--quiet', '--format', 'docker-archive', '--output', `${file}.partial`, ...full)
  renameSync(`${file}.partial`, file)
  writeFileSync(indexFile(), `${JSON.stringify({ ...archives, [name]: { id, file } }, null, 2)}\n`)
  onProgress(`${name}: saved`)
}
