import { existsSync } from 'node:fs'
import { runTool } from '../lib/run-tool.ts'

/** Whether we may install Debian's packages: as root where apt-get is. */
export function canAptGet(): boolean {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
}

/** Installs Debian's packages without asking and without what they recommend. */
export async function aptGetInstall(packages: string[], signal: AbortSignal | undefined): Promise<void> {
  const options = { cwd: '/', env: { DEBIAN_FRONTEND: 'noninteractive' }, signal }
  await runTool('apt-get', ['update', '-q'], options)
  await runTool('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages], options)
}
