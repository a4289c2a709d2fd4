import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, runTool } from '@orderflow/stack/base'
import { type Provisioned, type ProvisionOptions, pip } from '@orderflow/stack/internals'

/**
 * Installs PyPI packages into a folder of the cache. Programs in `bin` need this folder as `PYTHONPATH`.
 * @param requirements the file that lists the packages with their hashes
 * @param about a progress line about the download and its size
 */
export function pythonPackages(name: string, requirements: string, about: string): Provisioned {
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16)
  const make = (folder: string, options: ProvisionOptions) => installWheels(folder, requirements, options)
  return { folder: join(cacheFolder(), `${name}-${hash}`), about, needs: [pip], make }
}

async function installWheels(folder: string, requirements: string, { signal }: ProvisionOptions): Promise<void> {
  const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:', '--require-hashes']
  const args = ['-m', 'pip', 'install', ...options, '--target', folder, '--requirement', requirements]
  await runTool('python3', args, { cwd: folder, env: { PIP_ROOT_USER_ACTION: 'ignore' }, signal })
}
