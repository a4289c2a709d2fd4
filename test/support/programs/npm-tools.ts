import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, runTool } from '@orderflow/stack/base'
import { npm, provisionTools } from '@orderflow/stack/internals'

const files = ['package.json', 'package-lock.json']

/**
 * Installs the packages of a package.json into the cache, by the lock file. Returns their folder.
 * @param about a progress message with the content and size of the download
 */
export async function npmTools(name: string, from: string, about: string): Promise<string> {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(join(from, file)))
  const folder = join(cacheFolder(), `${name}-${hash.digest('hex').slice(0, 12)}`)
  const make = async (partial: string) => {
    for (const file of files) copyFileSync(join(from, file), join(partial, file))
    await runTool('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: partial })
  }
  await provisionTools([{ folder, about, needs: [npm], make }], { onProgress: console.error })
  return join(folder, 'node_modules')
}
