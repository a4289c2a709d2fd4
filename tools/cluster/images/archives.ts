import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { cacheFolder, repository, runTool } from '@orderflow/stack/base'
import type { ProvisionOptions } from '@orderflow/stack/internals'

// Podman builds the images. It needs no engine in the background, and reads the same Dockerfiles as Docker. Its images are in a folder of the cache.

const podmanFolder = () => join(cacheFolder(), 'podman')
export const archivesFolder = (): string => join(cacheFolder(), 'cluster-images')
export const indexFile = (): string => join(archivesFolder(), 'index.json')

/** Archives of images, by the image's name. */
export type Archives = Record<string, { id: string; file: string }>

export function readArchives(): Archives {
  return existsSync(indexFile()) ? (JSON.parse(readFileSync(indexFile(), 'utf8')) as Archives) : {}
}

/**
 * Builds missing or outdated images, and writes their archives.
 * @param sources the folder from which our own images are built, if it is not this repository
 */
export async function ensureArchives(
  names: readonly string[],
  options: ProvisionOptions,
  sources: string = repository,
): Promise<void> {
  const { onProgress, signal } = options
  // The commands that build images run `docker`. In another process, this name can stand for Podman.
  const args = [join(import.meta.dirname, 'build.ts'), sources, ...names]
  await runTool(process.execPath, args, { cwd: repository, env: podmanEnvironment(), onLine: onProgress, signal })
}

/** Returns the variables with which Podman uses only folders of the cache, and changes no network of this machine. */
function podmanEnvironment(): Record<string, string> {
  const folder = podmanFolder()
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  const storage = ['[storage]', 'driver = "overlay"', `graphroot = "${folder}/images"`, `runroot = "${folder}/run"`]
  const engine = ['[containers]', 'netns = "host"', '[engine]', 'cgroup_manager = "cgroupfs"', 'events_logger = "none"']
  writeFileSync(join(folder, 'storage.conf'), `${storage.join('\n')}\n`)
  writeFileSync(join(folder, 'containers.conf'), `${engine.join('\n')}\n`)
  // Pulls an image whose name has no registry from the same registry as Docker.
  writeFileSync(join(folder, 'registries.conf'), 'unqualified-search-registries = ["docker.io"]\n')
  if (!existsSync(join(bin, 'docker'))) symlinkSync('/usr/bin/podman', join(bin, 'docker'))
  return {
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_REGISTRIES_CONF: join(folder, 'registries.conf'),
    // Runs the commands of a Dockerfile as processes of this machine. A container would need cgroups and a network.
    BUILDAH_ISOLATION: 'chroot',
    PATH: [bin, process.env.PATH].join(delimiter),
  }
}
