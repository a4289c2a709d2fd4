import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { cacheFolder } from '../../../src/application/paths.ts'
import { CliError } from '../../../src/base/error.ts'
import { withLock } from '../../../src/base/lock.ts'
import { runTool } from '../../../src/base/run-tool.ts'
import { canAptGet } from '../../../src/provision/tools.ts'

const lockTimeoutMs = 10 * 60_000

/**
 * Returns the path of docker-registry in PATH or the cache. The cache has an unpacked Debian package, because an installed package would
 * start a registry on the port of order-service.
 * @throws {CliError} `usage` if docker-registry is missing and this machine has no apt-get
 */
export async function registryProgram(onProgress: (line: string) => void): Promise<string> {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const installed = folders.map((folder) => join(folder, 'docker-registry')).find((file) => existsSync(file))
  if (installed) return installed
  const folder = join(cacheFolder(), 'docker-registry')
  const program = join(folder, 'usr/bin/docker-registry')
  const onWait = (pid: number) => onProgress(`docker-registry: waiting for process ${pid}, which downloads it`)
  await withLock(`${folder}.lock`, { timeoutMs: lockTimeoutMs, onWait }, async () => {
    if (!existsSync(program)) await bring(folder, onProgress)
  })
  return program
}

async function bring(folder: string, onProgress: (line: string) => void): Promise<void> {
  if (!existsSync('/usr/bin/apt-get')) {
    throw new CliError('usage', 'needs docker-registry: not found', {
      nextStep: 'install CNCF Distribution’s registry under the name docker-registry, or use Debian or Ubuntu',
    })
  }
  onProgress('docker-registry: downloading Debian’s package')
  const partial = `${folder}.partial`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { recursive: true })
  if (canAptGet()) await runTool('apt-get', ['update', '-q'], { cwd: '/' })
  await runTool('apt-get', ['download', '-q', 'docker-registry'], { cwd: partial })
  const [file = ''] = readdirSync(partial)
  await runTool('dpkg-deb', ['--extract', file, '.'], { cwd: partial })
  rmSync(folder, { recursive: true, force: true })
  renameSync(partial, folder)
}
