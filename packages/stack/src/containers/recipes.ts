import { createHash } from 'node:crypto'
import { cpSync, existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { cp, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { images } from '../application/images.ts'
import { daprdFile, kafkaJarsFolder, templateFile, versions } from '../application/paths.ts'
import { filesIn } from '../base/files.ts'
import { runTool, withHeartbeat } from '../base/run-tool.ts'
import { checkHash, hashOf, type Provisioned, type ProvisionOptions } from '../provision/build.ts'
import {
  daprdTool,
  jaegerFile,
  jaegerTool,
  kafkaTool,
  prometheusFolder,
  prometheusTool,
} from '../provision/programs.ts'
import { provisionTools } from '../provision/provision.ts'
import { aptGetInstall, npm, type Tool } from '../provision/tools.ts'

/** The recipe by which this machine builds an image that it cannot pull. The built image has the same name and works in the same way. */
export interface Recipe {
  /** The folder with a Dockerfile or a script `build NAME LABEL...`. */
  folder: string
  from: string[]
  args: Record<string, string>
  /** Further sources of the image, which are not in the folder, such as a version. */
  content: string[]
  standIn?: string
  needs: Tool[]
  /** Tools that the Dockerfile copies. */
  parts: Provisioned[]
  /** Adds the tools of `parts` to the build context. */
  addParts?: (context: string, options: ProvisionOptions) => Promise<void> | void
}

const recipesFolder = templateFile('images')
const read = (...path: string[]) => readFileSync(join(...path), 'utf8')
const plain = { args: {}, content: [], needs: [], parts: [] }

/** Returns this machine's trusted certificates, or an empty text. */
function trusted(): string {
  const file = '/etc/ssl/certs/ca-certificates.crt'
  return existsSync(file) ? read(file) : ''
}

const folder = (name: string) => join(recipesFolder, name)

/** Returns the recipe of an image with one tool, which the build context contains as `name`. */
function recipeOfTool(name: string, version: string, tool: Provisioned, cached: string): Recipe {
  const addParts = (context: string) => cpSync(cached, join(context, name), { recursive: true })
  return { ...plain, folder: folder(name), from: [images.base], content: [version], parts: [tool], addParts }
}

/** @throws {Error} for an image without a recipe */
export function recipeOf(image: string): Recipe {
  switch (image) {
    case images.base:
      return { ...plain, folder: folder('base'), from: [], content: [trusted()] }
    case images.node: {
      const content = [versions.node, versions.npm]
      return { ...plain, folder: folder('node'), from: [images.base], content, needs: [npm], addParts: addNode }
    }
    case images.kafka:
      return {
        ...plain,
        folder: folder('kafka'),
        from: [images.base],
        content: [versions.kafka, read(templateFile('kafka/pom.xml'))],
        parts: [kafkaTool()],
        addParts: (context) => cpSync(kafkaJarsFolder(), join(context, 'libs'), { recursive: true }),
      }
    case images.daprd:
      return recipeOfTool('daprd', versions.dapr, daprdTool(), daprdFile())
    case images.mongo: {
      const [, version] = /^SecantusDB==(\S+)/m.exec(read(folder('mongo'), 'requirements.txt')) ?? []
      const args = { NODE_IMAGE: images.node }
      return {
        ...plain,
        folder: folder('mongo'),
        from: [images.base, images.node],
        args,
        standIn: `SecantusDB ${version}`,
      }
    }
    case images.postgresql:
      return { ...plain, folder: folder('postgres'), from: [images.base], standIn: 'PostgreSQL 15 of Debian 12' }
    case images.jaeger:
      return recipeOfTool('jaeger', versions.jaeger, jaegerTool(), jaegerFile())
    case images.prometheus:
      return recipeOfTool('prometheus', versions.prometheus, prometheusTool(), prometheusFolder())
    case images.reaper: {
      const standIn = "a reaper with ryuk's protocol"
      return { ...plain, folder: folder('ryuk'), from: [images.node], args: { NODE_IMAGE: images.node }, standIn }
    }
    default:
      throw new Error(`no recipe for ${image}`)
  }
}

async function addNode(context: string, { signal }: ProvisionOptions): Promise<void> {
  const packages = { node: `node-linux-${process.arch}@${versions.node}`, npm: `npm@${versions.npm}` }
  for (const [name, spec] of Object.entries(packages)) {
    const file = await runTool('npm', ['pack', '--silent', spec], { cwd: context, signal })
    checkHash(spec, hashOf(join(context, file.trim())))
    renameSync(join(context, file.trim()), join(context, `${name}.tgz`))
  }
}

/**
 * Returns a hash of all sources of an image and its base images, as 16 hex digits.
 * @param recipeOf returns the recipe of a base image
 */
export function recipeHash(recipe: Recipe, recipeOf: (image: string) => Recipe): string {
  const hash = createHash('sha256')
  const add = (...parts: string[]) => hash.update(JSON.stringify(parts))
  for (const file of filesIn(recipe.folder).sort()) {
    const isExecutable = (statSync(file).mode & 0o100) !== 0
    add('file', relative(recipe.folder, file), String(isExecutable), readFileSync(file, 'utf8'))
  }
  for (const [name, value] of Object.entries(recipe.args)) add('argument', name, value)
  for (const image of recipe.from) add('from', image, recipeHash(recipeOf(image), recipeOf))
  hash.update(JSON.stringify(['content', ...recipe.content]))
  add('stand-in', recipe.standIn ?? '')
  return hash.digest('hex').slice(0, 16)
}

/** Builds an image in a temporary folder. Unchanged layers come from Docker's cache. */
export async function buildImage(
  image: string,
  recipe: Recipe,
  labels: Record<string, string>,
  options: ProvisionOptions,
): Promise<void> {
  await provisionTools(recipe.parts, options)
  const context = await mkdtemp(join(tmpdir(), 'orderflow-image-'))
  const startedAt = Date.now()
  options.onProgress(`${image}: building ${recipe.standIn ? `a stand-in (${recipe.standIn})` : 'it here'}`)
  try {
    await cp(recipe.folder, context, { recursive: true })
    await recipe.addParts?.(context, options)
    await runBuild(image, recipe, context, labels, options)
  } finally {
    rmSync(context, { recursive: true, force: true })
  }
  const bytes = await runTool('docker', ['image', 'inspect', '--format', '{{.Size}}', image], { cwd: tmpdir() })
  const megabytes = Math.round(Number(bytes) / 1e6)
  options.onProgress(`${image}: built, ${megabytes} MB, ${Math.round((Date.now() - startedAt) / 1000)} s`)
}

async function runBuild(
  image: string,
  recipe: Recipe,
  context: string,
  labels: Record<string, string>,
  { onProgress, signal }: ProvisionOptions,
): Promise<void> {
  let last = 'starting'
  const onLine = (line: string) => {
    if (line.trim()) last = line.trim().slice(0, 100)
  }
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  await withHeartbeat(image, { onProgress, detail: () => last }, async () => {
    if (existsSync(join(context, 'build'))) {
      if (!existsSync('/usr/sbin/debootstrap')) await aptGetInstall(['debootstrap', 'debian-archive-keyring'], signal)
      await runTool(join(context, 'build'), [image, ...pairs], { cwd: context, signal, onLine })
      return
    }
    const args = Object.entries(recipe.args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`])
    const marks = pairs.flatMap((pair) => ['--label', pair])
    await runTool('docker', ['build', '--tag', image, ...args, ...marks, '.'], { cwd: context, signal, onLine })
  })
}
