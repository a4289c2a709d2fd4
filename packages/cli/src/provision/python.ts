import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../lib/paths.ts'
import { runTool } from '../lib/run-tool.ts'
import type { Provisioned, ProvisionOptions } from './options.ts'
import { pip } from './tools.ts'

/**
 * What a list of PyPI packages with hashes names, in a folder of the cache: programs in `bin`, which find their modules with this folder as
 * `PYTHONPATH`.
 * @param about what is fetched, and how much
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
