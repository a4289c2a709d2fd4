import { join } from 'node:path'
import { canAptGet, runTool } from '@orderflow/stack'
import type { Example } from './example.ts'

/** The example in the shell. On Debian, as root, kcat is installed where it is missing. */
export async function kcatExample(folder: string): Promise<Example> {
  const isThere = () =>
    runTool('kcat', ['-V'], { cwd: folder }).then(
      () => true,
      () => false,
    )
  if (!(await isThere())) {
    if (!canAptGet()) throw new Error('needs kcat: apt-get install kcat, or brew install kcat')
    await runTool('apt-get', ['update', '-q'], { cwd: '/' })
    await runTool('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'kcat'], { cwd: '/' })
  }
  return { language: 'kcat', publish: (file) => [join(folder, 'publish.sh'), file] }
}
