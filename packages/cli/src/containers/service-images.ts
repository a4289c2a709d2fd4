import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from '../lib/lock.ts'
import { cacheFolder, repository } from '../lib/paths.ts'
import { runTool, withHeartbeat } from '../lib/run-tool.ts'

const lockTimeoutMs = 60 * 60 * 1000

/**
 * Builds the services' own images, of which only what has changed takes time. One run at a time, since their names are those of every
 * checkout on this machine.
 * @throws {StackError} `provision-failed` with what the build printed last
 */
export async function buildServiceImages(onProgress: (line: string) => void): Promise<void> {
  onProgress('services: building their images')
  const onWait = (pid: number) => onProgress(`services: process ${pid} is building images, waiting for it`)
  await withLock(join(cacheFolder(), 'service-images.lock'), { timeoutMs: lockTimeoutMs, onWait }, async () => {
    const build = () => runTool('docker', ['compose', 'build', '--quiet'], { cwd: repository, env: placeholders() })
    await withHeartbeat('services', { onProgress, detail: () => 'building their images' }, build)
  })
}

/** Values for the secrets without which Compose does not read its file. No image has one. */
function placeholders(): Record<string, string> {
  const text = readFileSync(join(repository, 'docker-compose.yml'), 'utf8')
  return Object.fromEntries([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => [name, 'unused']))
}
