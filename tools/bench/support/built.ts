import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, repository, runTool } from '@orderflow/stack/base'
import type { Provisioned, ProvisionOptions } from '@orderflow/stack/internals'

export type Build = (folder: string, options: ProvisionOptions) => Promise<void>

/**
 * Describes a program of tools/ that must be built. The result is in the cache, and is built again after each change of the source.
 * @param source the folder of the source, relative to tools
 */
export function built(
  source: string,
  { name, label, needs }: { name: string; label: string; needs: Provisioned['needs'] },
  build: Build,
): Provisioned {
  const from = join(repository, 'tools', source)
  const make: Build = async (partial, options) => {
    cpSync(from, partial, { recursive: true })
    await build(partial, options)
  }
  return { folder: join(cacheFolder(), `${name}-${hashOfFolder(from)}`), about: `${label}: building it`, needs, make }
}

function hashOfFolder(folder: string): string {
  const hash = createHash('sha256')
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const files = entries.map((entry) => join(entry.parentPath, entry.name)).sort()
  for (const file of files) hash.update(JSON.stringify([file.slice(folder.length), readFileSync(file, 'utf8')]))
  return hash.digest('hex').slice(0, 16)
}

/** Builds a Go program with the modules in its go.sum. */
export function goProgram(output: string): Build {
  return async (folder, { signal }) => {
    const env = { GOTOOLCHAIN: 'auto', CGO_ENABLED: '0' }
    await runTool('go', ['build', '-trimpath', '-o', output, '.'], { cwd: folder, env, signal })
  }
}
