import { relative, resolve } from 'node:path'
import { buildPackages, packPackages } from '@orderflow/packages'
import { CliError, reportError, timed } from '@orderflow/stack/base'
import { packagesVersion } from '@orderflow/stack/internals'
import { createApp, requireFolder } from './app.ts'
import { requireOwnPackages } from './repository.ts'

/** Runs `make new-app DIR=... [EMPTY=1] [REGISTRY=...] [VERSION=...]`. */
async function main({
  DIR = '',
  EMPTY = '',
  REGISTRY = '',
  VERSION = packagesVersion,
}: NodeJS.ProcessEnv): Promise<void> {
  if (DIR === '') throw new CliError('usage', 'DIR is missing', { nextStep: 'make new-app DIR=../my-company' })
  const folder = resolve(DIR)
  requireFolder(folder)
  await requireOwnPackages(folder)
  const onProgress = timed()
  const signal = interruption()
  const source = REGISTRY
    ? { registry: REGISTRY, version: VERSION }
    : { archives: await packagesOf(VERSION, onProgress) }
  await createApp({ folder, isEmpty: EMPTY !== '', source, signal, onProgress })
  console.log(
    `\n${folder} is ready. Next:\n\n  cd ${relative('.', folder)}\n  make up\n  ${EMPTY ? 'make help' : 'make demo'}`,
  )
}

/** Returns a signal that Ctrl-C aborts, so that the command removes an incomplete application. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort())
  return controller.signal
}

async function packagesOf(version: string, onProgress: (line: string) => void): Promise<Map<string, string>> {
  onProgress('packages: building')
  await buildPackages(version)
  return packPackages()
}

try {
  await main(process.env)
} catch (error) {
  reportError(error)
}
