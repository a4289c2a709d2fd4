import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, runTool } from '@orderflow/stack'
import { npm, provisionTools } from '@orderflow/stack/parts'

const files = ['package.json', 'package-lock.json']
const here = (file: string) => join(import.meta.dirname, file)

/**
 * The folder of the programs in this folder's package.json: 78 MB that nothing else needs, so the first use installs them into the
 * cache, by the lock file.
 */
export async function measuringTools(): Promise<string> {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(here(file)))
  const folder = join(cacheFolder(), `measure-${hash.digest('hex').slice(0, 12)}`)
  const make = async (partial: string) => {
    for (const file of files) copyFileSync(here(file), join(partial, file))
    await runTool('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: partial })
  }
  const about = 'Stryker and c8: downloading 70 MB'
  await provisionTools([{ folder, about, needs: [npm], make }], { onProgress: console.error })
  return join(folder, 'node_modules/.bin')
}
