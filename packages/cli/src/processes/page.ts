import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../lib/paths.ts'
import { runTool } from '../lib/run-tool.ts'
import { services } from '../lib/services.ts'

/**
 * Bundles the pages of services that have one of their own, where the bundle is older than what it is made of. Containers do it in their
 * image (Dockerfile).
 * @throws {StackError} with what the bundler said
 */
export async function buildPages(signal: AbortSignal | undefined): Promise<void> {
  const folders = services
    .map(({ folder }) => join(repository, folder))
    .filter((each) => existsSync(join(each, 'page/build.ts')))
  const stale = folders.filter(isStale)
  await Promise.all(stale.map((cwd) => runTool(process.execPath, ['page/build.ts'], { cwd, signal })))
}

function isStale(folder: string): boolean {
  const made = join(folder, 'dist/manifest.json')
  if (!existsSync(made)) return true
  const { mtimeMs } = statSync(made)
  const parts = ['page', 'src/api'].flatMap((part) => {
    return readdirSync(join(folder, part), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(folder, part, name),
    )
  })
  return [...parts, join(repository, 'package-lock.json')].some((file) => statSync(file).mtimeMs > mtimeMs)
}
