import { relative, resolve } from 'node:path'
import { CliError, packagesVersion, reportError, timed } from '@orderflow/cli'
import { buildPackages, packPackages } from '@orderflow/packages'
import { createApp, requireFolder } from './app.ts'

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
  const onProgress = timed()
  const source = REGISTRY
    ? { registry: REGISTRY, version: VERSION }
    : { archives: await packagesOf(VERSION, onProgress) }
  await createApp({ folder, isEmpty: EMPTY !== '', source, onProgress })
  console.log(
    `\n${folder} is ready. Next:\n\n  cd ${relative('.', folder)}\n  make up\n  ${EMPTY ? 'make help' : 'make demo'}`,
  )
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
