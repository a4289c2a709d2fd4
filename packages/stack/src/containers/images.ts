import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ComposeStore, stackImages, testImages } from '../application/images.ts'
import { cacheFolder, repository, stackFolder } from '../application/paths.ts'
import { CliError } from '../base/error.ts'
import { withLock } from '../base/lock.ts'
import { type RunToolOptions, runTool, withHeartbeat } from '../base/run-tool.ts'
import type { ProvisionOptions } from '../provision/build.ts'
import { composeMissing, docker, engineMissing } from '../provision/engine.ts'
import { needsOf, requireTools } from '../provision/provision.ts'
import { canAptGet } from '../provision/tools.ts'
import { buildImage, recipeHash, recipeOf } from './recipes.ts'
import { composeEnvironment, namesInFiles } from './variables.ts'

const recipeLabel = 'orderflow.recipe'
const standInLabel = 'orderflow.stand-in'
const lockTimeoutMs = 60 * 60 * 1000

interface PresentImage {
  name: string
  /** `recipe` if this machine built the image from packages/stack/templates/images. */
  origin: 'registry' | 'recipe'
  /** The program that replaces the real one in a stand-in image. */
  standIn: string | undefined
}

interface InspectedImage extends PresentImage {
  id: string
  /** False if the image was built from an older recipe. */
  isCurrent: boolean
}

/**
 * Pulls missing images, or builds them here. An image of an older recipe is treated as missing.
 * @throws {CliError} `no-images` if pulling failed and this machine cannot build the images, `tools-missing`, `provision-failed`
 */
export async function ensureImages(options: ProvisionOptions, names = stackImages()): Promise<PresentImage[]> {
  if ((await missingOf(names)).length > 0) {
    await withImagesLock(options, async () => {
      const failed = await pullAll(await missingOf(names), options)
      const [first] = failed.entries()
      if (first) options.onProgress(`warning: ${first[0]} cannot be pulled: ${first[1]}`)
      await build([...failed.keys()], options)
    })
  }
  return [...(await inspect(names)).values()]
}

/**
 * Makes sure that all images are here: those of tests, and those of the services.
 * @throws {CliError} `no-engine`
 */
export async function prepareImages(options: ProvisionOptions): Promise<PresentImage[]> {
  const missing = (await engineMissing()) ?? (await composeMissing())
  if (missing) throw new CliError('no-engine', missing, { nextStep: './orderflow engine' })
  const present = await ensureImages(options, testImages)
  await buildServiceImages(options.onProgress)
  return present
}

function withImagesLock<Result>({ onProgress }: ProvisionOptions, work: () => Promise<Result>): Promise<Result> {
  const onWait = (pid: number) => onProgress(`images: waiting for process ${pid}, which pulls or builds them`)
  return withLock(join(cacheFolder(), 'images.lock'), { timeoutMs: lockTimeoutMs, onWait }, work)
}

/** Pulls the missing images of the stack. Returns a reason not to use containers if an image is still missing or is a stand-in. */
export async function pullStackImages(options: ProvisionOptions, store?: ComposeStore): Promise<string | undefined> {
  const names = stackImages(store)
  const present = await inspect(names)
  const standIns = [...present.values()].filter(({ standIn }) => standIn)
  if (standIns.length > 0)
    return standIns.map(({ name, standIn }) => `${name} is a stand-in here (${standIn})`).join(', ')
  const missing = names.filter((name) => !present.has(name))
  if (missing.length === 0) return undefined
  const [failed] = await withImagesLock(options, () => pullAll(missing, options))
  return failed && `${failed[0]} cannot be pulled: ${failed[1]}`
}

export async function imageNotes(store?: ComposeStore): Promise<string[]> {
  const names = stackImages(store)
  const present = await inspect(names)
  return names.flatMap((name) => {
    const image = present.get(name)
    if (!image) return [`${name} is missing: make up pulls it`]
    return image.standIn ? [`${name} is a stand-in here (${image.standIn}): only STACK=docker uses it`] : []
  })
}

async function missingOf(names: string[]): Promise<string[]> {
  const present = await inspect(names)
  return names.filter((name) => !present.get(name)?.isCurrent)
}

/** Pulls images. Returns the reasons for those that cannot be pulled, by name, in the order of `names`. */
async function pullAll(names: string[], options: ProvisionOptions): Promise<Map<string, string>> {
  const reasons = await Promise.all(names.map((name) => pull(name, options)))
  const all = names.map((name, index) => [name, reasons[index]] as const)
  return new Map(all.filter((each): each is readonly [string, string] => each[1] !== undefined))
}

async function build(names: string[], options: ProvisionOptions): Promise<void> {
  const recipes = new Map(names.map((name) => [name, recipeOf(name)]))
  await requireTools([...recipes.values()].flatMap((recipe) => [...recipe.needs, ...needsOf(recipe.parts)]))
  for (const [name, recipe] of recipes) {
    if (recipe.from.length === 0 && !canAptGet()) throw noImages(names)
    const [before] = (await inspect([name])).values()
    const labels = { [recipeLabel]: hashOf(name), ...(recipe.standIn && { [standInLabel]: recipe.standIn }) }
    await buildImage(name, recipe, labels, options)
    // Removes the previous image, which now only uses disk space. Docker keeps it if a container uses it.
    if (before?.origin === 'recipe') await docker('image', 'rm', before.id).catch(() => {})
  }
}

function noImages(names: string[]): CliError {
  return new CliError('no-images', `cannot pull these images or build them here: ${names.join(', ')}`, {
    nextStep:
      'give the Docker engine access to Docker Hub, or run this again as root on Debian to build the images from package registries',
  })
}

const hashOf = (name: string) => recipeHash(recipeOf(name), recipeOf)

async function inspect(names: string[]): Promise<Map<string, InspectedImage>> {
  const found = await Promise.all(names.map(inspectOne))
  return new Map(found.flatMap((image) => (image ? [[image.name, image]] : [])))
}

async function inspectOne(name: string): Promise<InspectedImage | undefined> {
  const printed = await docker('image', 'inspect', name).catch((error: Error) => {
    // Podman's message has other words.
    if (/no such image|image not known/i.test(error.message)) return undefined
    throw error
  })
  if (!printed) return undefined
  const [{ Id, Config }] = JSON.parse(printed) as [{ Id: string; Config: { Labels: Record<string, string> | null } }]
  const recipe = Config.Labels?.[recipeLabel]
  return {
    name,
    origin: recipe ? 'recipe' : 'registry',
    standIn: Config.Labels?.[standInLabel],
    id: Id,
    isCurrent: !recipe || recipe === hashOf(name),
  }
}

/** The longest wait for the first output of a pull. */
const silenceMs = 20_000

/** Pulls an image. After a failure, returns the reason in one line. */
export async function pull(image: string, { onProgress, signal }: ProvisionOptions): Promise<string | undefined> {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(), silenceMs)
  let layers = 0
  let pulled = 0
  const onLine = (line: string) => {
    clearTimeout(timer)
    if (line.endsWith(': Pulling fs layer')) layers += 1
    if (line.endsWith(': Pull complete')) pulled += 1
  }
  onProgress(`${image}: pulling`)
  try {
    const either = AbortSignal.any([silence.signal, ...(signal ? [signal] : [])])
    await withHeartbeat(image, { onProgress, detail: () => `${pulled} of ${layers} layers pulled` }, () =>
      pullPinned(image, { cwd: repository, signal: either, onLine }),
    )
    onProgress(`${image}: pulled`)
    return undefined
  } catch (error) {
    if (signal?.aborted) throw error
    if (silence.signal.aborted) return `no answer in ${silenceMs / 1000} s`
    return (error as Error).message.trim().split('\n').at(-1) ?? ''
  } finally {
    clearTimeout(timer)
  }
}

/** Pulls an image. If its digest is known, pulls the image by digest and adds the tag. */
async function pullPinned(image: string, options: RunToolOptions): Promise<void> {
  const digest = imageDigests[image]
  const pinned = digest ? `${image.replace(/:.*/, '')}@${digest}` : image
  await runTool('docker', ['pull', pinned], options)
  if (digest) await runTool('docker', ['tag', pinned, image], options)
}

/** The digests of external images; an empty digest accepts any image of the tag. */
export const imageDigests = JSON.parse(readFileSync(join(stackFolder, 'image-digests.json'), 'utf8')) as Record<
  string,
  string
>

/** Builds the images of the services. Takes a lock, because all checkouts share the image names. */
export async function buildServiceImages(onProgress: (line: string) => void): Promise<void> {
  onProgress('services: building their images')
  const onWait = (pid: number) => onProgress(`services: waiting for process ${pid}, which builds images`)
  await withLock(join(cacheFolder(), 'service-images.lock'), { timeoutMs: lockTimeoutMs, onWait }, async () => {
    const build = () => runTool('docker', ['compose', 'build', '--quiet'], buildOptions())
    await withHeartbeat('services', { onProgress, detail: () => 'building their images' }, build)
  })
}

/** Sets each variable that Compose needs to read its files to a placeholder, which is enough, because images contain no secrets. */
const buildOptions = () => {
  const required = [...namesInFiles(repository)].filter(([, isRequired]) => isRequired)
  const env = Object.fromEntries(required.map(([name]) => [name, 'unused']))
  return { cwd: repository, environment: composeEnvironment(), env }
}
