import { createHash } from 'node:crypto'
import { serviceImage } from '../application/images.ts'
import { applicationName, repository } from '../application/paths.ts'
import { services } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { runTool } from '../base/run-tool.ts'
import { buildServiceImages } from '../containers/images.ts'
import { composeMissing, docker, engineMissing } from '../provision/engine.ts'
import type { ProgressOptions } from '../runner.ts'
import type { Cluster } from './cluster.ts'
import { type Values, valuesFile } from './values.ts'

const names: readonly string[] = [...services.map(({ name }) => name), 'setup']

/** The registry in the names of images that no registry has (lib/images.ts). */
const noRegistry = 'localhost'

type ImageValues = Pick<Partial<Values['images']>, 'tag' | 'digests'>

/**
 * Makes the images available to the cluster. Pushes them to the registry that the values name, or loads them into a cluster of kind or k3d.
 * Images with a digest in the values are not built. For other clusters without a registry, the nodes must have the images.
 * @returns the values that pin the images
 */
export async function provideImages(
  { context }: Cluster,
  { images }: Values,
  { onProgress, signal }: ProgressOptions,
): Promise<ImageValues> {
  const unpinned = names.filter((name) => !images.digests[name])
  const load = loaderOf(context)
  if (unpinned.length === 0) return {}
  if (images.registry === noRegistry && !load) {
    onProgress(
      `images: the nodes must have ${serviceImage('NAME')}:${images.tag}, because ${valuesFile} names no registry`,
    )
    return {}
  }
  const missing = (await engineMissing()) ?? (await composeMissing())
  if (missing) {
    throw new CliError('no-engine', `cannot build images: ${missing}`, {
      nextStep: `./orderflow engine; or set images.digests in ${valuesFile} to images that exist already`,
    })
  }
  await buildServiceImages(onProgress)
  if (images.registry === noRegistry && load) {
    const tag = await tagOfContent()
    const tagged = names.map((name) => `${serviceImage(name)}:${tag}`)
    for (const [index, name] of names.entries()) await docker('tag', serviceImage(name), tagged[index] as string)
    const [program, ...args] = load(tagged) as [string, ...string[]]
    onProgress(`images: loading them with ${program}`)
    await runTool(program, args, { cwd: repository, signal })
    return { tag }
  }
  const digests: Record<string, string> = {}
  for (const name of unpinned) {
    const image = `${images.registry}/${applicationName}-${name}:${images.tag}`
    onProgress(`${image}: pushing`)
    await docker('tag', serviceImage(name), image)
    await runTool('docker', ['push', '--quiet', image], { cwd: repository, signal }).catch((error: Error) => {
      throw new CliError('registry', `${image} cannot be pushed: ${error.message}`, {
        nextStep: `docker login ${images.registry.split('/')[0]}, then run this again`,
        cause: error,
      })
    })
    digests[name] = await digestOf(image)
  }
  return { digests: { ...images.digests, ...digests } }
}

/** Returns the command line that loads images into a developer's cluster. */
function loaderOf(context: string): ((images: string[]) => string[]) | undefined {
  const [, tool, cluster = ''] = /^(kind|k3d)-(.+)$/.exec(context) ?? []
  if (tool === 'kind') return (images) => ['kind', 'load', 'docker-image', '--name', cluster, ...images]
  if (tool === 'k3d') return (images) => ['k3d', 'image', 'import', '--cluster', cluster, ...images]
  return undefined
}

/** Returns a tag that changes with the images. With the same tag, Kubernetes would keep the pods of older images. */
async function tagOfContent(): Promise<string> {
  const ids = await Promise.all(
    names.map((name) => docker('image', 'inspect', '--format', '{{.Id}}', serviceImage(name))),
  )
  return createHash('sha256').update(ids.join()).digest('hex').slice(0, 12)
}

/** Returns the digest that the registry has given to a pushed image. */
async function digestOf(image: string): Promise<string> {
  const repositoryOfImage = image.replace(/:[^:/]*$/, '')
  const listed = JSON.parse(await docker('image', 'inspect', '--format', '{{json .RepoDigests}}', image)) as string[]
  const found = listed.find((each) => each.startsWith(`${repositoryOfImage}@`))
  if (found) return found.slice(repositoryOfImage.length + 1)
  throw new CliError('registry', `the registry returned no digest of ${image}`, {
    nextStep: `docker image inspect ${image}, to see why`,
  })
}
