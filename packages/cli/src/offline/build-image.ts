import { existsSync, rmSync } from 'node:fs'
import { cp, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runTool, withHeartbeat } from '../lib/run-tool.ts'
import { aptGetInstall } from '../provision/apt.ts'
import type { ProvisionOptions } from '../provision/options.ts'
import { provisionTools } from '../provision/provision.ts'
import type { Recipe } from './recipes.ts'

/** Builds an image from its recipe in a folder of its own, with these labels. Layers that did not change are not built again. */
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
    await run(image, recipe, context, labels, options)
  } finally {
    rmSync(context, { recursive: true, force: true })
  }
  const bytes = await runTool('docker', ['image', 'inspect', '--format', '{{.Size}}', image], { cwd: tmpdir() })
  const megabytes = Math.round(Number(bytes) / 1e6)
  options.onProgress(`${image}: built, ${megabytes} MB, ${Math.round((Date.now() - startedAt) / 1000)} s`)
}

async function run(
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
